#include "codegen/dialect.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "codegen/dialects/dialects.hpp"

namespace kerf::codegen {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Literal, ReadsBackAsTheSameNumber) {
  for (const DialectTraits* dialect : {&dialects::cpp, &dialects::opencl_c, &dialects::cuda_cpp})
    for (const double value : {0.1, 1e-6, 3.0, 1.0 / 3, 6.02214076e23, 1e-40, 123456789.0}) {
      EXPECT_EQ(std::strtod(literal(*dialect, value, DType::f64).c_str(), nullptr), value);
      const std::string single = literal(*dialect, value, DType::f32);
      EXPECT_EQ(std::strtof(single.c_str(), nullptr), static_cast<float>(value));
      EXPECT_EQ(single.back(), 'f');
    }
}

TEST(Literal, IsAFloatEvenForWholeNumbers) {
  EXPECT_EQ(literal(dialects::cpp, 2, DType::f32), "2.0f");
  EXPECT_EQ(literal(dialects::cpp, 1e20, DType::f64), "1e+20");
}

TEST(Literal, OfNegativeNumbersStandsAlone) {
  EXPECT_EQ(literal(dialects::cpp, -2, DType::f64), "(-2.0)");
  EXPECT_EQ(literal(dialects::cpp, -0.0, DType::f64), "(-0.0)");
  EXPECT_EQ(literal(dialects::opencl_c, -7, DType::i64), "(-7L)");
}

TEST(Literal, SpellsInfinityAndNanForEachLanguage) {
  EXPECT_EQ(literal(dialects::opencl_c, -kInfinity, DType::f32), "(-INFINITY)");
  EXPECT_EQ(literal(dialects::cuda_cpp, kInfinity, DType::f64), "__longlong_as_double(0x7ff0000000000000LL)");
  EXPECT_EQ(literal(dialects::cpp, std::nan(""), DType::f32), "__builtin_nanf(\"\")");
  EXPECT_EQ(literal(dialects::opencl_c, 1e300, DType::f32), "INFINITY");  // too large for f32
}

TEST(MathFunction, HasTheSuffixOfItsTypeOnlyInCuda) {
  EXPECT_EQ(math_function(dialects::cuda_cpp, "exp", DType::f32), "expf");
  EXPECT_EQ(math_function(dialects::cuda_cpp, "exp", DType::f64), "exp");
  EXPECT_EQ(math_function(dialects::opencl_c, "exp", DType::f32), "exp");
  EXPECT_EQ(math_function(dialects::cpp, "exp", DType::f32), "std::exp");
}

}  // namespace
}  // namespace kerf::codegen
