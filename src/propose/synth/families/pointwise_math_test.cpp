// The host's vectorisable functions (kernels/dialect/math.h) against the C library in double precision.

#include "../../../../kernels/dialect/cpp.h"
#include "../../../../kernels/dialect/math.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace {

/// Numbers of every exponent and sign, and the ones that need care.
std::vector<float> arguments() {
  std::vector<float> values{0.0f,     -0.0f,     1.0f,       -1.0f,     KERF_INFINITY,   -KERF_INFINITY,
                            KERF_NAN, 0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f,
                            88.7228f, 88.7229f,  -87.3366f,  -103.97f,  -104.0f,         0.6f,
                            3.95f};
  std::mt19937 random(1);
  for (int i = 0; i < 40000; ++i) {
    const std::uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, 4);
    values.push_back(value);
  }
  std::uniform_real_distribution<float> ordinary(-20.0f, 20.0f);
  for (int i = 0; i < 20000; ++i) values.push_back(ordinary(random));
  return values;
}

template <class Fast, class Exact>
void within_two_units(const char* name, Fast fast, Exact exact) {
  SCOPED_TRACE(name);
  for (const float x : arguments()) {
    const double wanted = exact(static_cast<double>(x));
    const float rounded = static_cast<float>(wanted), got = fast(x);
    if (std::isnan(rounded)) {
      EXPECT_TRUE(std::isnan(got)) << x;
      continue;
    }
    if (std::isinf(rounded) || std::isinf(got)) {
      EXPECT_EQ(got, rounded) << x;
      continue;
    }
    if (rounded == 0) {
      EXPECT_EQ(std::signbit(got), std::signbit(rounded)) << x;
    }
    int exponent = 0;
    std::frexp(rounded, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
    EXPECT_LE(std::fabs(got - wanted), 2 * unit) << x << " gives " << got << " instead of " << wanted;
  }
}

#define AGAINST_LIBRARY(name) \
  within_two_units(#name, [](float x) { return kerf_fast_##name(x); }, [](double x) { return std::name(x); })

TEST(FastMath, IsWithinTwoUnitsOfTheLibraryEverywhere) {
  AGAINST_LIBRARY(exp);
  AGAINST_LIBRARY(exp2);
  AGAINST_LIBRARY(expm1);
  AGAINST_LIBRARY(log);
  AGAINST_LIBRARY(log2);
  AGAINST_LIBRARY(log1p);
  AGAINST_LIBRARY(tanh);
  AGAINST_LIBRARY(erf);
  within_two_units(
      "sigmoid", [](float x) { return kerf_fast_sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
  within_two_units("rsqrt", [](float x) { return kerf_fast_rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); });
}

TEST(FastMath, DoublesAreTheLibrarys) {
  EXPECT_EQ(kerf_fast_exp(1.25), std::exp(1.25));
  EXPECT_EQ(kerf_fast_pow(1.25, 3.5), std::pow(1.25, 3.5));
}

TEST(Lanes, ShiftTakesTheLowestFromTheFill) {
  const kerf_lanes<float, 4> fill{9, 9, 9, 9}, values{1, 2, 3, 4};
  const auto shifted = kerf_shift<1, 4>(fill, values);
  EXPECT_EQ(shifted[0], 9);
  EXPECT_EQ(shifted[1], 1);
  EXPECT_EQ(shifted[3], 3);
}

TEST(Lanes, TransposeTurnsRowsIntoColumns) {
  kerf_vec<8> square[8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) square[i][j] = static_cast<float>(10 * i + j);
  kerf_transpose(square);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_EQ(square[i][j], static_cast<float>(10 * j + i));
}

TEST(Lanes, StreamCopiesEveryElementFromAnyAddress) {
  for (int offset = 0; offset < 20; ++offset) {
    std::vector<float> from(100), to(130, -1.0f);
    for (int i = 0; i < 100; ++i) from[static_cast<std::size_t>(i)] = static_cast<float>(i);
    kerf_stream(to.data() + offset, from.data(), 100);
    kerf_stream_end();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(to[static_cast<std::size_t>(offset + i)], static_cast<float>(i));
    EXPECT_EQ(to[static_cast<std::size_t>(offset + 100)], -1.0f);
  }
}

}  // namespace
