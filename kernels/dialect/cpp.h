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
#define KERF_SIMD _Pragma("omp simd")  // before a loop over neighbours whose iterations do not depend on each other
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
  return ((a > b) | (a != a)) ? a : b;
}
template <class T>
KERF_FN T kerf_min_nan(T a, T b) {
  return ((a < b) | (a != a)) ? a : b;
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

/// Threads that a parallel region has.
KERF_FN kerf_index kerf_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/// Rows become columns: W vectors of W values, where W is a power of two.
template <int H, class V, std::size_t W, std::size_t... I>
KERF_FN void kerf_transpose_step(V (&v)[W], std::index_sequence<I...>) {
#pragma GCC unroll 16
  for (std::size_t i = 0; i < W; ++i) {
    if (i & H) continue;
    const V a = v[i], b = v[i + H];
    v[i] = __builtin_shufflevector(a, b, ((I & H) != 0 ? (int)(W + I - H) : (int)I)...);
    v[i + H] = __builtin_shufflevector(a, b, ((I & H) != 0 ? (int)(W + I) : (int)(I + H))...);
  }
  if constexpr (2 * H < (int)W) kerf_transpose_step<2 * H>(v, std::index_sequence<I...>());
}
template <class V, std::size_t W>
KERF_FN void kerf_transpose(V (&v)[W]) {
  kerf_transpose_step<1>(v, std::make_index_sequence<W>());
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

// Rounds floats to halves in whole vectors, to the nearest even; returns how many, the rest is left to the caller.
KERF_FN kerf_index kerf_round_f16([[maybe_unused]] unsigned short* to, [[maybe_unused]] const float* from,
                                  [[maybe_unused]] kerf_index count) {
  kerf_index i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16) {
    const auto halves = __builtin_ia32_vcvtps2ph512_mask(kerf_load<16>(from + i), 0, kerf_lanes<short, 16>{}, -1);
    __builtin_memcpy(to + i, &halves, sizeof halves);
  }
#elif defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    const auto halves = __builtin_ia32_vcvtps2ph256(kerf_load<8>(from + i), 0);
    __builtin_memcpy(to + i, &halves, sizeof halves);
  }
#endif
  return i;
}

// What math.h is made of.
KERF_FN int kerf_bits_i(float x) { return __builtin_bit_cast(int, x); }
KERF_FN float kerf_i_bits(int b) { return __builtin_bit_cast(float, b); }
#define kerf_magnitude(x) __builtin_fabsf(x)
#define kerf_with_sign(x, y) __builtin_copysignf(x, y)

// Functions that math.h does not have, and those in double precision, which are the C library's.
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

KERF_FN double kerf_fast_exp(double x) { return std::exp(x); }
KERF_FN double kerf_fast_exp2(double x) { return std::exp2(x); }
KERF_FN double kerf_fast_expm1(double x) { return std::expm1(x); }
KERF_FN double kerf_fast_log(double x) { return std::log(x); }
KERF_FN double kerf_fast_log2(double x) { return std::log2(x); }
KERF_FN double kerf_fast_log1p(double x) { return std::log1p(x); }
KERF_FN double kerf_fast_tanh(double x) { return std::tanh(x); }
KERF_FN double kerf_fast_erf(double x) { return std::erf(x); }
KERF_FN double kerf_fast_sqrt(double x) { return std::sqrt(x); }
KERF_FN double kerf_fast_fabs(double x) { return std::fabs(x); }
KERF_FN double kerf_fast_floor(double x) { return std::floor(x); }
KERF_FN double kerf_fast_ceil(double x) { return std::ceil(x); }
KERF_FN double kerf_fast_trunc(double x) { return std::trunc(x); }
KERF_FN double kerf_fast_rint(double x) { return std::rint(x); }
KERF_FN double kerf_fast_sin(double x) { return std::sin(x); }
KERF_FN double kerf_fast_cos(double x) { return std::cos(x); }
KERF_FN double kerf_fast_tan(double x) { return std::tan(x); }
KERF_FN double kerf_fast_rsqrt(double x) { return 1.0 / std::sqrt(x); }
KERF_FN double kerf_fast_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
KERF_FN double kerf_fast_copysign(double x, double y) { return std::copysign(x, y); }
KERF_FN double kerf_fast_fmod(double x, double y) { return std::fmod(x, y); }
KERF_FN double kerf_fast_pow(double x, double y) { return std::pow(x, y); }
