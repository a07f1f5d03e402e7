#include "device/cuda/judge_kernels.hpp"

namespace kerf::cuda {
namespace {

// Drawing inputs and masking what an oracle computed: oracle/inputs.cpp and ir/dtype.cpp, word for word. The intrinsics
// keep multiply and add apart, as they are on the host.
constexpr const char* kOracleSource = R"(
__device__ __forceinline__ double bell(u64 bits) {
  const double sum = (double)((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
  const u64 more = mix(bits ^ 0x6a09e667f3bcc909ull);
  const double fine = (double)(more & 0xffffffff) * 0x1.0p-48;
  const int zeros = __clzll((long long)more);
  const double stretch = zeros > 8 ? 1 + 0.25 * (zeros - 8) : 1.0;
  return __dmul_rn(__dmul_rn(__dadd_rn(__dadd_rn(sum / 65536.0 - 2.0, 0x1.8p-16), fine), 1.7320508075688772), stretch);
}
__device__ __forceinline__ double unit(u64 bits) { return (double)(bits >> 11) * 0x1.0p-53; }
__device__ double log_uniform(u64 bits) {
  const int exponent = (int)(bits % 20) - 10;
  const double mantissa = 1.0 + unit(bits >> 5 << 5);
  return ldexp(bits >> 63 ? -mantissa : mantissa, exponent);
}
__device__ int kind_of(u64 stream, u64 place, u64 kinds) { return (int)((stream % kinds + place % kinds) % kinds); }
__device__ double special(u64 bits, u64 stream, u64 index, u64 count, bool infinities) {
  const u64 block = index / 16384, period = count < 16384 ? count : 16384;
  const u64 place = mix(stream + block) % period;
  const int kind = infinities ? kind_of(stream, block, 5) : 0;
  if (index % period == place)
    return kind == 0 ? real(0x7ff8000000000000ull) : kind == 1 || kind == 3 ? infinity() : -infinity();
  if (kind > 2 && index % period == (place + 1 + stream % 5) % period)
    return kind == 3 ? -infinity() : real(0x7ff8000000000000ull);
  if (bits % 64 == 0) {
    const u64 which = (bits >> 20) % 4;
    return which == 0 ? 0.0 : which == 1 ? -0.0 : which == 2 ? 0x1.8p-130 : -0x1.0p-149;
  }
  return bell(mix(bits));
}
// Kinds of rows: zero, constant, tiny, huge, shifted up and down, below -8, below -1e4, above 100, ordinary, any.
__device__ double scale_of(int kind, u64 bits, int octaves) {
  int exponent = (int)(bits % (u64)(2 * octaves + 1)) - octaves;
  const int inwards = (int)(bits % (u64)(octaves / 2 + 1));
  if (kind == 2) exponent = inwards - octaves;
  if (kind == 3) exponent = octaves - inwards;
  if (kind == 6) exponent = -1;
  if (kind == 7) exponent = octaves >= 10 ? 8 : -1;
  if (kind == 8 || kind == 9) exponent = 0;
  return ldexp(1.0 + unit(mix(bits)), exponent);
}
__device__ double offset_of(int kind, u64 bits, double scale, int octaves) {
  const double size = 1.0 + unit(mix(bits));
  const double shift = ldexp(__dmul_rn(scale, size), (int)((bits >> 8) % (octaves >= 2 ? 7 : 3)));
  switch (kind) {
    case 4: return shift;
    case 5: return -shift;
    case 6: return __dmul_rn(-16.0, size);
    case 7: return __dmul_rn(octaves >= 10 ? -20000.0 : -16.0, size);
    case 8: return octaves >= 6 ? __dmul_rn(128.0, size) : shift;
    default: return 0;
  }
}
__device__ u64 row_bits(u64 stream, u64 row) { return mix(stream ^ mix(row + 0x517cc1b727220a95ull)); }
__device__ double row_value(u64 bits, u64 stream, u64 index, double length, double reach) {
  const u64 row = index / (u64)length, own = row_bits(stream, row);
  const int kind = kind_of(stream, row, 11), octaves = (int)fabs(reach);
  if (kind == 0) return 0;
  const double scale = scale_of(kind, own >> 3, octaves);
  if (kind == 1) {
    const double same = __dmul_rn(scale, bell(own));
    return reach < 0 ? same : real((u64)__double_as_longlong(same) & 0xfffc000000000000ull);
  }
  return __dadd_rn(offset_of(kind, mix(own), scale, octaves), __dmul_rn(scale, bell(bits)));
}
__device__ double masked_value(u64 bits, u64 stream, u64 index, double row_length, double mask) {
  const u64 length = (u64)row_length, row = index / length, column = index % length;
  const u64 place = (row_bits(stream, row) >> 1) % length;
  const int kind = kind_of(stream, row, 5);
  const bool hidden = kind == 0   ? column > place
                      : kind == 1 ? bits % 8 == 0
                      : kind == 2 ? column != place
                      : kind == 3 ? column < place
                                  : mask == -0x1p30 || mask == -0x1p14 || mask == 0;
  return hidden ? mask : bell(mix(bits));
}
// Forms 0 to 10: the patterns (a and b as in oracle::InputDraw); 16 to 19: normal, uniform, integers, constant with parameters a and b; 32, 33: bools, integers.
__device__ double drawn(u64 form, u64 stream, u64 index, u64 count, double a, double b) {
  const u64 bits = mix(stream + index);
  switch (form) {
    case 0: return bell(bits);
    case 1: return log_uniform(bits);
    case 2: return bits % 500 == 0 ? 300.0 * bell(mix(bits)) : bell(mix(bits));
    case 3: case 33: return (double)(bits % 9) - 4.0;
    case 4: return unit(bits);
    case 5: return special(bits, stream, index, count, a != 0);
    case 6: return -unit(bits);
    case 7: return __dadd_rn(b, __dmul_rn(a, bell(bits)));
    case 8: return row_value(bits, stream, index, a, b);
    case 9: return masked_value(bits, stream, index, a, b);
    case 10: return bell(mix(stream ^ (bits % 4)));
    case 16: return __dadd_rn(a, __dmul_rn(b, bell(bits)));
    case 17: return __dadd_rn(a, __dmul_rn(b - a, unit(bits)));
    case 18: return a + floor(__dmul_rn(unit(bits), b - a + 1));
    case 19: return a;
    default: return (double)(bits & 1);
  }
}
__device__ u16 to_f16(float value) {
  const u32 bits = __float_as_uint(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return (u16)(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return (u16)(sign | 0x7c00);
  if (magnitude < 0x38800000) return (u16)(sign | (u32)rintf(__uint_as_float(magnitude) * 0x1.0p24f));
  const u32 rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return (u16)(sign | ((rounded - 0x38000000) >> 13));
}
__device__ u16 to_bf16(float value) {
  const u32 bits = __float_as_uint(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return (u16)((bits >> 16) | 0x40);
  return (u16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
__device__ float to_f32(double value) { return is_nan(value) ? __uint_as_float(0x7fc00000) : (float)value; }
__device__ float to_odd(double value) {
  float narrow = to_f32(value);
  if (fabs((double)narrow) != infinity() && !is_nan(value) && (double)narrow != value) {
    u32 bits = __float_as_uint(narrow);
    if ((bits & 1) == 0) {
      if (fabs(value) > fabs((double)narrow)) bits += 1;
      else if ((bits & 0x7fffffff) != 0) bits -= 1;
      narrow = __uint_as_float(bits);
    }
  }
  return narrow;
}
__device__ void store(u64 dtype, void* target, u64 i, double value) {
  switch (dtype) {
    case 0: ((float*)target)[i] = to_f32(value); break;
    case 1: ((u16*)target)[i] = to_f16(to_odd(value)); break;
    case 2: ((u16*)target)[i] = to_bf16(to_odd(value)); break;
    case 3: ((double*)target)[i] = value; break;
    case 4: ((int*)target)[i] = (int)value; break;
    case 5: ((long long*)target)[i] = (long long)value; break;
    default: ((u8*)target)[i] = value != 0; break;
  }
}

extern "C" __global__ void __launch_bounds__(256) kerf_draw(u64 dtype, void* target, u64 count, u64 seed, u64 form, u64 a, u64 b) {
  const u64 stream = mix(seed);
  for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    store(dtype, target, i, drawn(form, stream, i, count, real(a), real(b)));
  }
}

// Source words to masked words. Forms: 0 expected values of `dtype` to 64 bits, 1 bounds to floats rounded up, 2 bounds to
// 64 bits. Adds the sum that the comparison will find to `sum`.
extern "C" __global__ void __launch_bounds__(256) kerf_mask(u64 form, u64 dtype, const void* source, void* target, u64 count,
                                                            u64 key, u64 second_key, u64* sum) {
  u64 seen = 0;
  for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    const u64 mask = mask_word(key, second_key, i);
    if (form == 1) {
      const double bound = ((const double*)source)[i];
      float up = to_f32(bound);
      if (bound >= 0x1.fffffep127 && bound != infinity()) up = 0x1.fffffep127f;
      else if ((double)up < bound) up = __uint_as_float(__float_as_uint(up) + 1);
      const u32 word = __float_as_uint(up) ^ (u32)mask;
      ((u32*)target)[i] = word;
      seen += word * (mask | 1);
      continue;
    }
    u64 word;
    if (form == 0 && dtype == 4) word = (u64)(long long)((const int*)source)[i];
    else if (form == 0 && dtype == 6) word = ((const u8*)source)[i];
    else word = ((const u64*)source)[i];
    word ^= mask;
    ((u64*)target)[i] = word;
    seen += word * (mask | 1);
  }
  seen = block_sum(seen);
  if (threadIdx.x == 0) atomicAdd(sum, seen);
}
)";

}  // namespace

const char* judge_oracle_source() { return kOracleSource; }

}  // namespace kerf::cuda
