// The dialect layer, C++ on the host: what cuda.h and opencl.h have and makes sense here, vectors, and math that vectorises.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

typedef long long kerf_index;

#define KERF_KERNEL static void
#define KERF_FN [[maybe_unused]] __attribute__((always_inline)) static inline
#define KERF_GLOBAL
#define KERF_LOCAL
#define KERF_RESTRICT __restrict__
#define KERF_UNROLL _Pragma("GCC unroll 16")
#define KERF_INFINITY __builtin_inff()
#define KERF_NAN __builtin_nanf("")
#define KERF_WARP 1
#define kerf_max(a, b) ((a) > (b) ? (a) : (b))  // plain: what a NaN gives is not defined; arguments are evaluated twice
#define kerf_min(a, b) ((a) < (b) ? (a) : (b))
KERF_FN float kerf_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KERF_FN double kerf_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

// A NaN on either side wins.
template <class T>
KERF_FN T kerf_max_nan(T a, T b) {
  return (a > b) | (a != a) ? a : b;
}
template <class T>
KERF_FN T kerf_min_nan(T a, T b) {
  return (a < b) | (a != a) ? a : b;
}

struct kerf_f4 {
  float x, y, z, w;
};
KERF_FN kerf_f4 kerf_make4(float x, float y, float z, float w) { return {x, y, z, w}; }
KERF_FN kerf_f4 kerf_load4(const float* p) { return {p[0], p[1], p[2], p[3]}; }
KERF_FN void kerf_store4(float* p, kerf_f4 v) { p[0] = v.x, p[1] = v.y, p[2] = v.z, p[3] = v.w; }

// kerf_vec<W>: W floats with arithmetic; addresses need no alignment beyond that of a float.
template <int W>
struct kerf_vec_of {
  typedef float type __attribute__((vector_size(W * 4)));
};
template <int W>
using kerf_vec = typename kerf_vec_of<W>::type;
template <int W>
KERF_FN kerf_vec<W> kerf_splat(float x) {
  return x - kerf_vec<W>{};
}
template <int W>
KERF_FN kerf_vec<W> kerf_load(const float* p) {
  kerf_vec<W> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <int W>
KERF_FN void kerf_store(float* p, kerf_vec<W> v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <int W>
KERF_FN float kerf_sum(kerf_vec<W> v) {
  if constexpr (W == 1) {
    return v[0];
  } else {
    kerf_vec<W / 2> low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return kerf_sum<W / 2>(low + high);
  }
}

// W values of any type; kerf_shift<K> moves them K lanes up and takes the lowest K from `fill`.
template <class T, int W>
struct kerf_lanes_of {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
};
template <class T, int W>
using kerf_lanes = typename kerf_lanes_of<T, W>::type;
template <int K, class V, std::size_t... I>
KERF_FN V kerf_shift_lanes(V fill, V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(fill, v, (I < K ? (int)I : (int)(sizeof...(I) + I - K))...);
}
template <int K, int W, class V>
KERF_FN V kerf_shift(V fill, V v) {
  return kerf_shift_lanes<K>(fill, v, std::make_index_sequence<W>());
}

// Copies past the cache, for data that nobody reads soon. kerf_stream_end after the last of a thread's copies.
KERF_FN void kerf_stream(float* to, const float* from, kerf_index count) {
  kerf_index i = 0;
#if defined(__x86_64__) && !defined(__clang__)
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 64 != 0; ++i) to[i] = from[i];
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16) __builtin_ia32_movntps512(to + i, kerf_load<16>(from + i));
#elif defined(__AVX__)
  for (; i + 8 <= count; i += 8) __builtin_ia32_movntps256(to + i, kerf_load<8>(from + i));
#else
  for (; i + 4 <= count; i += 4) __builtin_ia32_movntps(to + i, kerf_load<4>(from + i));
#endif
#endif
  for (; i < count; ++i) to[i] = from[i];
}
KERF_FN void kerf_stream_end() {
#if defined(__x86_64__) && !defined(__clang__)
  __builtin_ia32_sfence();
#endif
}

// Elementary functions in single precision, without branches and tables, so that loops over them vectorise. At most 2 units in
// the last place from the exact value over the whole range, with NaN, infinities and denormals as in the C library. The double
// versions are the C library's. Polynomials are minimax fits of the functions given beside them.

KERF_FN std::int32_t kerf_bits_i(float x) { return __builtin_bit_cast(std::int32_t, x); }
KERF_FN float kerf_i_bits(std::int32_t b) { return __builtin_bit_cast(float, b); }

/// p * 2^n for -252 <= n <= 254, with one rounding, to denormals too.
KERF_FN float kerf_scale(float p, std::int32_t n) {
  const std::int32_t half = n >> 1;
  return p * kerf_i_bits((half + 127) << 23) * kerf_i_bits((n - half + 127) << 23);
}

KERF_FN float kerf_fast_exp(float x) {
  const float c = x > 90.0f ? 90.0f : (x < -106.0f ? -106.0f : x);  // a NaN passes
  const float shifted = kerf_fma(c, 0x1.715476p0f, 0x1.8p23f);       // its low bits are the nearest integer
  const float n = shifted - 0x1.8p23f;
  const float r = kerf_fma(n, 0x1.05c610p-29f, kerf_fma(n, -0x1.62e430p-1f, c));
  float q = 0x1.6a2256p-10f;  // (exp(r) - 1 - r) / r^2
  q = kerf_fma(q, r, 0x1.123b02p-7f);
  q = kerf_fma(q, r, 0x1.5558f8p-5f);
  q = kerf_fma(q, r, 0x1.555490p-3f);
  q = kerf_fma(q, r, 0x1.fffffcp-2f);
  const float p = kerf_fma(q * r, r, r) + 1.0f;
  return kerf_scale(p, kerf_bits_i(shifted) - 0x4b400000);
}

KERF_FN float kerf_fast_exp2(float x) {
  const float c = x > 130.0f ? 130.0f : (x < -152.0f ? -152.0f : x);
  const float shifted = c + 0x1.8p23f;
  const float r = c - (shifted - 0x1.8p23f);
  float q = 0x1.44912cp-13f;  // (2^r - 1) / r
  q = kerf_fma(q, r, 0x1.5f497ep-10f);
  q = kerf_fma(q, r, 0x1.3b29a8p-7f);
  q = kerf_fma(q, r, 0x1.c6aeccp-5f);
  q = kerf_fma(q, r, 0x1.ebfbe0p-3f);
  q = kerf_fma(q, r, 0x1.62e430p-1f);
  return kerf_scale(kerf_fma(q, r, 1.0f), kerf_bits_i(shifted) - 0x4b400000);
}

KERF_FN float kerf_fast_expm1(float x) {
  const float c = x > 89.0f ? 89.0f : (x < -20.0f ? -20.0f : x);
  const float shifted = kerf_fma(c, 0x1.715476p0f, 0x1.8p23f);
  const float n = shifted - 0x1.8p23f;
  const float r = kerf_fma(n, 0x1.05c610p-29f, kerf_fma(n, -0x1.62e430p-1f, c));
  float q = 0x1.a1a2b0p-13f;  // (exp(r) - 1 - r) / r^2
  q = kerf_fma(q, r, 0x1.6d75dcp-10f);
  q = kerf_fma(q, r, 0x1.11108ep-7f);
  q = kerf_fma(q, r, 0x1.5554acp-5f);
  q = kerf_fma(q, r, 0x1.555556p-3f);
  q = kerf_fma(q, r, 0.5f);
  const float p = kerf_fma(q * r, r, r);                                          // exp(r) - 1
  const float half = kerf_i_bits((kerf_bits_i(shifted) - 0x4b400000 + 126) << 23);  // 2^(n - 1)
  const float whole = 2.0f * kerf_fma(half, p, half - 0.5f);
  return n == 0.0f ? __builtin_copysignf(p, x) : whole;
}

/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); gives m - 1. For positive finite x.
KERF_FN float kerf_split_log(float x, float& e) {
  const bool small = x < 0x1p-126f;
  const float scaled = small ? x * 0x1p23f : x;
  const std::int32_t offset = kerf_bits_i(scaled) - 0x3f3504f3;
  e = (float)(offset >> 23) - (small ? 23.0f : 0.0f);
  return kerf_i_bits((offset & 0x7fffff) + 0x3f3504f3) - 1.0f;
}
/// log(1 + f) - f for f = m - 1 of kerf_split_log.
KERF_FN float kerf_log_tail(float f) {
  float q = 0x1.1b7aa6p-4f;  // (log(1 + f) - f + f^2 / 2) / f^3
  q = kerf_fma(q, f, -0x1.e34806p-4f);
  q = kerf_fma(q, f, 0x1.e669f2p-4f);
  q = kerf_fma(q, f, -0x1.fb35e2p-4f);
  q = kerf_fma(q, f, 0x1.233054p-3f);
  q = kerf_fma(q, f, -0x1.55632ap-3f);
  q = kerf_fma(q, f, 0x1.99a564p-3f);
  q = kerf_fma(q, f, -0x1.ffffeep-3f);
  q = kerf_fma(q, f, 0x1.555546p-2f);
  const float f2 = f * f;
  return kerf_fma(q * f, f2, -0.5f * f2);
}
/// What a logarithm is outside of the positive numbers, where `value` has no meaning.
KERF_FN float kerf_log_edges(float x, float value) {
  const float edge = x == 0.0f ? -KERF_INFINITY : (x > 0.0f ? x : KERF_NAN);
  return (x > 0.0f) & (x < KERF_INFINITY) ? value : edge;
}

KERF_FN float kerf_fast_log(float x) {
  float e;
  const float f = kerf_split_log(x, e);
  const float value = kerf_fma(e, 0x1.62e400p-1f, f + kerf_fma(e, 0x1.7f7d1cp-20f, kerf_log_tail(f)));
  return kerf_log_edges(x, value);
}
KERF_FN float kerf_fast_log2(float x) {
  float e;
  const float f = kerf_split_log(x, e);
  const float tail = kerf_fma(f, 0x1.4ae0bep-26f, kerf_log_tail(f) * 0x1.715476p0f);
  return kerf_log_edges(x, e + kerf_fma(f, 0x1.715476p0f, tail));
}
KERF_FN float kerf_fast_log1p(float x) {
  const float u = 1.0f + x, back = u - 1.0f;
  const float lost = (1.0f - (u - back)) + (x - back);  // exactly 1 + x - u
  float e;
  const float f = kerf_split_log(u, e);
  const float value = kerf_fma(e, 0x1.62e400p-1f, f + kerf_fma(e, 0x1.7f7d1cp-20f, kerf_log_tail(f) + lost / u));
  return x == 0.0f ? x : kerf_log_edges(u, value);
}

KERF_FN float kerf_fast_tanh(float x) {
  const float a = __builtin_fabsf(x), z = x * x;
  float q = 0x1.200af6p-9f;  // (tanh(x) / x - 1) / x^2, for |x| < 0.6
  q = kerf_fma(q, z, -0x1.0dd086p-7f);
  q = kerf_fma(q, z, 0x1.63e684p-6f);
  q = kerf_fma(q, z, -0x1.b9f66ep-5f);
  q = kerf_fma(q, z, 0x1.11108cp-3f);
  q = kerf_fma(q, z, -0x1.555554p-2f);
  const float near = kerf_fma(q * z, a, a);
  const float far = 1.0f - 2.0f / (kerf_fast_exp(2.0f * a) + 1.0f);
  return __builtin_copysignf(a < 0.6f ? near : far, x);
}
KERF_FN float kerf_fast_sigmoid(float x) {
  const float t = kerf_fast_exp(-__builtin_fabsf(x));
  const float share = t / (1.0f + t), whole = x < 0.0f ? t : 1.0f;
  return kerf_fma(-whole, share, whole);  // whole / (1 + t), with a smaller error than the quotient
}
/// erf(a) = 1 - exp(-a q(a)) for a = |x|; beyond 3.95 it is 1.
KERF_FN float kerf_fast_erf(float x) {
  const float given = __builtin_fabsf(x), a = given > 3.95f ? 3.95f : given;
  float q = -0x1.3696fap-17f;  // (-log(1 - erf(a)) / a - 2 / sqrt(pi)) / a
  q = kerf_fma(q, a, 0x1.ed6ca2p-14f);
  q = kerf_fma(q, a, -0x1.4bca0cp-11f);
  q = kerf_fma(q, a, 0x1.b5006cp-10f);
  q = kerf_fma(q, a, -0x1.5060bep-13f);
  q = kerf_fma(q, a, -0x1.39cdc6p-6f);
  q = kerf_fma(q, a, 0x1.a4fa5ep-4f);
  q = kerf_fma(q, a, 0x1.45f2fap-1f);
  q = kerf_fma(q, a, -0x1.f7ac92p-25f);  // what 2 / sqrt(pi) loses in the next line
  const float y = -kerf_fma(a, 0x1.20dd76p0f, q * a);
  const float shifted = kerf_fma(y, 0x1.715476p0f, 0x1.8p23f);
  const float n = shifted - 0x1.8p23f;
  const float r = kerf_fma(n, 0x1.05c610p-29f, kerf_fma(n, -0x1.62e430p-1f, y));
  float e = 0x1.a1a2b0p-13f;  // (exp(r) - 1 - r) / r^2
  e = kerf_fma(e, r, 0x1.6d75dcp-10f);
  e = kerf_fma(e, r, 0x1.11108ep-7f);
  e = kerf_fma(e, r, 0x1.5554acp-5f);
  e = kerf_fma(e, r, 0x1.555556p-3f);
  e = kerf_fma(e, r, 0.5f);
  const float p = kerf_fma(e * r, r, r);
  const float scale = kerf_i_bits((kerf_bits_i(shifted) << 23) + 0x3f800000);
  return __builtin_copysignf(kerf_fma(scale, p, scale - 1.0f), x);
}

KERF_FN float kerf_fast_sqrt(float x) { return __builtin_sqrtf(x); }
KERF_FN float kerf_fast_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
KERF_FN float kerf_fast_fabs(float x) { return __builtin_fabsf(x); }
KERF_FN float kerf_fast_floor(float x) { return __builtin_floorf(x); }
KERF_FN float kerf_fast_ceil(float x) { return __builtin_ceilf(x); }
KERF_FN float kerf_fast_trunc(float x) { return __builtin_truncf(x); }
KERF_FN float kerf_fast_rint(float x) { return __builtin_rintf(x); }
KERF_FN float kerf_fast_copysign(float x, float y) { return __builtin_copysignf(x, y); }
KERF_FN float kerf_fast_fmod(float x, float y) { return std::fmod(x, y); }
KERF_FN float kerf_fast_sin(float x) { return std::sin(x); }
KERF_FN float kerf_fast_cos(float x) { return std::cos(x); }
KERF_FN float kerf_fast_tan(float x) { return std::tan(x); }
KERF_FN float kerf_fast_pow(float x, float y) { return std::pow(x, y); }

#define KERF_LIBRARY_1(name) \
  KERF_FN double kerf_fast_##name(double x) { return std::name(x); }
KERF_LIBRARY_1(exp) KERF_LIBRARY_1(exp2) KERF_LIBRARY_1(expm1) KERF_LIBRARY_1(log) KERF_LIBRARY_1(log2) KERF_LIBRARY_1(log1p)
KERF_LIBRARY_1(tanh) KERF_LIBRARY_1(erf) KERF_LIBRARY_1(sqrt) KERF_LIBRARY_1(fabs) KERF_LIBRARY_1(floor) KERF_LIBRARY_1(ceil)
KERF_LIBRARY_1(trunc) KERF_LIBRARY_1(rint) KERF_LIBRARY_1(sin) KERF_LIBRARY_1(cos) KERF_LIBRARY_1(tan)
#undef KERF_LIBRARY_1
KERF_FN double kerf_fast_rsqrt(double x) { return 1.0 / std::sqrt(x); }
KERF_FN double kerf_fast_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
KERF_FN double kerf_fast_copysign(double x, double y) { return std::copysign(x, y); }
KERF_FN double kerf_fast_fmod(double x, double y) { return std::fmod(x, y); }
KERF_FN double kerf_fast_pow(double x, double y) { return std::pow(x, y); }
