#include "ir/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace kerf {
namespace {

struct Description {
  DType dtype;
  std::string_view name;
  std::size_t size;
  int rank;  // promotion order
};
constexpr std::array<Description, 7> kDescriptions{{{DType::f32, "f32", 4, 4},
                                                    {DType::f16, "f16", 2, 3},
                                                    {DType::bf16, "bf16", 2, 3},
                                                    {DType::f64, "f64", 8, 5},
                                                    {DType::i32, "i32", 4, 1},
                                                    {DType::i64, "i64", 8, 2},
                                                    {DType::boolean, "bool", 1, 0}}};

const Description& describe(DType dtype) { return kDescriptions[static_cast<std::size_t>(dtype)]; }

template <class T>
T load(const void* data, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store(void* data, std::size_t index, T value) {
  std::memcpy(static_cast<std::byte*>(data) + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

std::string_view dtype_name(DType dtype) { return describe(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& d : kDescriptions)
    if (d.name == name) return d.dtype;
  return std::nullopt;
}

std::size_t dtype_size(DType dtype) { return describe(dtype).size; }
bool is_float(DType dtype) { return describe(dtype).rank >= 3; }
bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  const int ra = describe(a).rank, rb = describe(b).rank;
  if (ra == rb) return DType::f32;  // f16 with bf16: neither holds the other
  return ra > rb ? a : b;
}

float bf16_to_f32(unsigned short bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

unsigned short f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<unsigned short>((bits >> 16) | 0x40);
  return static_cast<unsigned short>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float f16_to_f32(unsigned short bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

unsigned short f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint32_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<unsigned short>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<unsigned short>(sign | 0x7c00);  // rounds to 65536 or more
  if (magnitude < 0x38800000) {                                                    // subnormal in f16
    const float scaled = std::bit_cast<float>(magnitude) * 0x1.0p24F;
    return static_cast<unsigned short>(sign | static_cast<std::uint32_t>(std::nearbyintf(scaled)));
  }
  const std::uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<unsigned short>(sign | ((rounded - 0x38000000) >> 13));
}

double load_element(DType dtype, const void* data, std::size_t index) {
  switch (dtype) {
    case DType::f32: return load<float>(data, index);
    case DType::f16: return f16_to_f32(load<unsigned short>(data, index));
    case DType::bf16: return bf16_to_f32(load<unsigned short>(data, index));
    case DType::f64: return load<double>(data, index);
    case DType::i32: return load<std::int32_t>(data, index);
    case DType::i64: return static_cast<double>(load<std::int64_t>(data, index));
    case DType::boolean: return load<std::uint8_t>(data, index) != 0 ? 1 : 0;
  }
  return 0;
}

void store_element(DType dtype, void* data, std::size_t index, double value) {
  switch (dtype) {
    case DType::f32: return store(data, index, static_cast<float>(value));
    // Going through f32 would round twice; the odd-rounding step below keeps the tie information.
    case DType::f16:
    case DType::bf16: {
      float narrow = static_cast<float>(value);
      if (std::isfinite(narrow) && static_cast<double>(narrow) != value) {
        auto bits = std::bit_cast<std::uint32_t>(narrow);
        if ((bits & 1) == 0) {  // round to odd: step towards the value when the even neighbour was taken
          const bool away = std::fabs(value) > std::fabs(static_cast<double>(narrow));
          if (away)
            bits += 1;
          else if ((bits & 0x7fffffff) != 0)
            bits -= 1;
          narrow = std::bit_cast<float>(bits);
        }
      }
      return store(data, index, dtype == DType::f16 ? f32_to_f16(narrow) : f32_to_bf16(narrow));
    }
    case DType::f64: return store(data, index, value);
    case DType::i32: return store(data, index, static_cast<std::int32_t>(value));
    case DType::i64: return store(data, index, static_cast<std::int64_t>(value));
    case DType::boolean: return store(data, index, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
  }
}

}  // namespace kerf
