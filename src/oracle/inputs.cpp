#include "oracle/inputs.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "oracle/footprint.hpp"

namespace kerf::oracle {
namespace {

/// Sum of four 16-bit uniforms, centred and scaled to deviation 1: bell-shaped on (-3.5, 3.5), four cheap operations.
double bell(std::uint64_t bits) {
  const auto sum =
      static_cast<double>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
  return (sum / 65536.0 - 2.0 + 0x1.0p-15) * 1.7320508075688772;
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

double log_uniform(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits % 20) - 10;
  const double mantissa = 1.0 + unit(bits >> 5 << 5);
  return std::ldexp((bits & (1ULL << 63)) != 0 ? -mantissa : mantissa, exponent);
}

/// Every 16384th element on average is NaN or infinite, every 64th a zero or a denormal; `second` decides which.
double special(std::uint64_t bits, std::uint64_t second, std::int64_t index, std::int64_t count) {
  // Small tensors get one non-finite element too, at a place the seed decides.
  const std::int64_t period = std::min<std::int64_t>(count, 16384);
  const bool nonfinite = static_cast<std::uint64_t>(index % period) == second % static_cast<std::uint64_t>(period);
  if (nonfinite) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double choices[] = {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf};
    return choices[(second >> 40) % 3];
  }
  if (bits % 64 == 0) {
    const double choices[] = {0.0, -0.0, 0x1.8p-130, -0x1.0p-149};
    return choices[(bits >> 20) % 4];
  }
  return bell(mix64(bits));
}

double family_value(Family family, std::uint64_t bits, std::uint64_t stream, std::int64_t index, std::int64_t count) {
  switch (family) {
    case Family::normal: return bell(bits);
    case Family::log_uniform: return log_uniform(bits);
    case Family::spikes: return bits % 500 == 0 ? 300.0 * bell(mix64(bits)) : bell(mix64(bits));
    case Family::integers: return static_cast<double>(bits % 9) - 4.0;
    case Family::positive: return unit(bits);
    case Family::negative: return -unit(bits);
    case Family::specials:
      return special(bits, mix64(stream + static_cast<std::uint64_t>(index / 16384)), index, count);
  }
  return 0;
}

double given_value(const InputDistribution& d, double highest, std::uint64_t bits) {
  switch (d.kind) {
    case InputDistribution::Kind::normal: return d.a + d.b * bell(bits);
    case InputDistribution::Kind::uniform: return d.a + (d.b - d.a) * unit(bits);
    case InputDistribution::Kind::integers: return d.a + std::floor(unit(bits) * (highest - d.a + 1));
    case InputDistribution::Kind::constant: return d.a;
  }
  return 0;
}

}  // namespace

std::string_view family_name(Family family) {
  switch (family) {
    case Family::normal: return "normal";
    case Family::log_uniform: return "log_uniform";
    case Family::spikes: return "spikes";
    case Family::integers: return "integers";
    case Family::positive: return "positive";
    case Family::negative: return "negative";
    case Family::specials: return "specials";
  }
  return "unknown";
}

Result<ir::HostTensor> draw(const ir::TensorType& type, const Bindings& symbols, Family family,
                            const std::optional<InputDistribution>& given, std::uint64_t seed) {
  KERF_TRY(auto extents, evaluate(type.shape, symbols));
  double highest = given ? given->b : 0;
  if (given && given->b_is_dim) {
    KERF_TRY(const std::int64_t value, given->b_dim.evaluate(symbols));
    highest = static_cast<double>(value);
  }
  ir::HostTensor tensor = ir::make_tensor(type.dtype, std::move(extents));
  const std::int64_t count = tensor.elements();
  const std::uint64_t stream = mix64(seed);
  parallel_for(count, 65536, 0, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t bits = mix64(stream + static_cast<std::uint64_t>(i));
      double value;
      if (given) {
        value = given_value(*given, highest, bits);
      } else if (type.dtype == DType::boolean) {
        value = static_cast<double>(bits & 1);
      } else if (is_integer(type.dtype)) {
        value = static_cast<double>(bits % 9) - 4.0;
      } else {
        value = family_value(family, bits, stream, i, count);
      }
      store_element(type.dtype, tensor.bytes.data(), static_cast<std::size_t>(i), value);
    }
  });
  return tensor;
}

std::uint64_t input_seed(const ir::TensorType& input, Family family, std::uint64_t seed) {
  return mix64(seed ^ hash64(input.name) ^ mix64(static_cast<std::uint64_t>(family)));
}

Result<std::vector<ir::HostTensor>> draw_inputs(const Task& task, const ShapeSet& shape, Family family,
                                                std::uint64_t seed) {
  KERF_TRY_VOID(check_memory(task, shape, available_memory_bytes()));
  std::vector<ir::HostTensor> inputs;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const std::uint64_t stream = input_seed(task.inputs[i], family, seed);
    const auto given = i < task.distributions.size() ? task.distributions[i] : std::nullopt;
    KERF_TRY(auto tensor, draw(task.inputs[i], shape.symbols, family, given, stream));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace kerf::oracle
