#pragma once
// Branch-free elementary functions, written so that a loop over them becomes vector code. Each is within about
// 2 units in the last place of the exact value (relative error below 5e-16) and follows IEEE for NaN, infinities,
// zeros.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#define KERF_EVAL_INLINE inline __attribute__((always_inline))

namespace kerf::ir::eval {

// Adding and removing this constant rounds to the nearest integer; the sum's low bits then hold that integer.
constexpr double kRoundingShift = 0x1.8p52;
constexpr double kLn2High = 0x1.62e42fefp-1;  // 33 bits, so that k * kLn2High is exact for every exponent k
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kInvLn2 = 0x1.71547652b82fep+0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Horner's rule, coefficients from the constant term upwards.
template <int N>
KERF_EVAL_INLINE double polynomial(double x, const double (&c)[N]) {
  double sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

/// 2^k for k in [-1022, 1023], k given as an integral double.
KERF_EVAL_INLINE double power_of_two(double k) {
  return std::bit_cast<double>((std::bit_cast<std::int64_t>(k + (kRoundingShift + 1023.0)) & 0x7ff) << 52);
}

/// e^r - 1 for |r| <= ln2 / 2 (plus rounding): the Taylor series, whose first omitted term is below 2^-57.
KERF_EVAL_INLINE double small_expm1(double r) {
  constexpr double kTerms[] = {0x1.0000000000000p-1,  0x1.5555555555555p-3,  0x1.5555555555555p-5,
                               0x1.1111111111111p-7,  0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-13,
                               0x1.a01a01a01a01ap-16, 0x1.71de3a556c734p-19, 0x1.27e4fb7789f5cp-22,
                               0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29, 0x1.6124613a86d09p-33};
  return r + r * r * polynomial(r, kTerms);
}

/// m * 2^k in two steps, so that results near the ends of the range overflow and underflow only when they should.
KERF_EVAL_INLINE double scale(double m, double k) {
  const double half = (k * 0.5 + kRoundingShift) - kRoundingShift;
  return m * power_of_two(half) * power_of_two(k - half);
}

KERF_EVAL_INLINE double fast_exp(double x) {
  double y = x > 710.0 ? 710.0 : x;
  y = y < -746.0 ? -746.0 : y;
  const double k = (y * kInvLn2 + kRoundingShift) - kRoundingShift;
  const double r = (y - k * kLn2High) - k * kLn2Low;
  return scale(1.0 + small_expm1(r), k);
}

KERF_EVAL_INLINE double fast_exp2(double x) {
  double y = x > 1025.0 ? 1025.0 : x;
  y = y < -1077.0 ? -1077.0 : y;
  const double k = (y + kRoundingShift) - kRoundingShift;
  return scale(1.0 + small_expm1((y - k) * 0x1.62e42fefa39efp-1), k);
}

KERF_EVAL_INLINE double fast_expm1(double x) {
  double y = x > 710.0 ? 710.0 : x;
  y = y < -45.0 ? -45.0 : y;
  const double k = (y * kInvLn2 + kRoundingShift) - kRoundingShift;
  const double r = (y - k * kLn2High) - k * kLn2Low;
  const double half = power_of_two(k - 1.0);  // 2^(k-1): 2^k itself would overflow for the largest results
  const double result = 2.0 * (half * small_expm1(r) + (half - 0.5));
  return x == 0.0 ? x : result;
}

KERF_EVAL_INLINE double fast_tanh(double x) {
  const double a = std::fabs(x);
  const double t = fast_expm1(a > 22.0 ? 44.0 : 2.0 * a);
  return std::copysign(t / (t + 2.0), x);
}

KERF_EVAL_INLINE double fast_sigmoid(double x) { return 1.0 / (1.0 + fast_exp(-x)); }

/// A positive normal x as 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
struct Reduced {
  double k;
  double f;
};
KERF_EVAL_INLINE Reduced reduce_for_log(double x) {
  // Unsigned: negative arguments, whose result is replaced later, would overflow.
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits - kSqrtHalf) & 0xfff0000000000000ULL;
  // The exponent is biased to be positive so that a logical shift serves; not every vector unit has the other one.
  const auto biased = static_cast<std::int64_t>((exponent + (2048ULL << 52)) >> 52 & 0xfff);
  const double k =
      std::bit_cast<double>(biased + std::bit_cast<std::int64_t>(kRoundingShift)) - (kRoundingShift + 2048.0);
  return {k, std::bit_cast<double>(bits - exponent) - 1.0};
}

/// log(1 + f) - (f - f^2 / 2) with s = f / (2 + f): from the series of 2 atanh(s).
KERF_EVAL_INLINE double log_tail(double f) {
  constexpr double kTerms[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double s = f / (2.0 + f);
  const double z = s * s;
  return s * (0.5 * f * f + z * polynomial(z, kTerms));
}

/// Replaces the result where the logarithm of u is not a finite number.
KERF_EVAL_INLINE double log_special(double u, double result) {
  result = u == kInfinity ? u : result;
  result = u == 0.0 ? -kInfinity : result;
  return u < 0.0 || u != u ? std::numeric_limits<double>::quiet_NaN() : result;
}

KERF_EVAL_INLINE double fast_log(double x) {
  const bool tiny = x < 0x1p-1022;
  const Reduced u = reduce_for_log(tiny ? x * 0x1p54 : x);
  const double k = tiny ? u.k - 54.0 : u.k;
  const double result = ((log_tail(u.f) + k * kLn2Low) - 0.5 * u.f * u.f) + u.f + k * kLn2High;
  return log_special(x, result);
}

KERF_EVAL_INLINE double fast_log2(double x) {
  const bool tiny = x < 0x1p-1022;
  const Reduced u = reduce_for_log(tiny ? x * 0x1p54 : x);
  const double log_m = (log_tail(u.f) - 0.5 * u.f * u.f) + u.f;
  return log_special(x, log_m * kInvLn2 + (tiny ? u.k - 54.0 : u.k));
}

KERF_EVAL_INLINE double fast_log1p(double x) {
  const double u = 1.0 + x;
  const Reduced reduced = reduce_for_log(u);
  // What rounding 1 + x lost, as a relative correction; near zero x itself is exact and nothing is lost.
  const double lost = (u >= 2.0 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
  const double f = reduced.k == 0.0 ? x : reduced.f;
  const double correction = reduced.k == 0.0 ? 0.0 : lost;
  const double result = ((log_tail(f) + (reduced.k * kLn2Low + correction)) - 0.5 * f * f) + f + reduced.k * kLn2High;
  return x == 0.0 ? x : log_special(u, result);
}

/// Two Chebyshev fits: erf(x)/x in x^2 below 1, and erfcx(x) = exp(x^2) erfc(x) in (x - 3)/(x + 3) from 1 to 6, where
/// only its absolute error matters.
KERF_EVAL_INLINE double fast_erf(double x) {
  constexpr double kInner[] = {0x1.20dd750429b6dp+0,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b30p-4,
                               -0x1.b82ce31284e00p-6,  0x1.565bcd0dbaa38p-8,   -0x1.c02db3dac435fp-11,
                               0x1.f9a321d5b8e1ep-14,  -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b97p-20,
                               -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27,  -0x1.389d4f2641625p-30,
                               0x1.05ffd737fb32ep-34};
  constexpr double kOuter[] = {
      0x1.6e9827d229d2dp-3,   -0x1.4e102b9cf8513p-2, 0x1.f6ff204105a04p-3,  -0x1.336ffbef08b8ap-3,
      0x1.258b13b00ec66p-4,   -0x1.8fa58eb5ea92cp-6, 0x1.17c839090a469p-8,  0x1.73101f6d2e434p-11,
      -0x1.39085f2b38287p-11, 0x1.7b9ef7977ceafp-15, 0x1.0cb2e63fe2177p-14, -0x1.af086905fc57fp-17,
      -0x1.0cc37e8e915adp-17, 0x1.0e3fb74fdc507p-19, 0x1.56695202d55bcp-20, 0x1.d0badb83f2cadp-29};
  const double a = std::fabs(x) > 6.0 ? 6.0 : std::fabs(x);
  const double inner = a * polynomial(a * a, kInner);
  const double outer = 1.0 - fast_exp(-a * a) * polynomial((a - 3.0) / (a + 3.0), kOuter);
  const double magnitude = a < 1.0 ? inner : outer;
  return x != x ? x : std::copysign(magnitude, x);
}

}  // namespace kerf::ir::eval
