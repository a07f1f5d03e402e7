#include "ir/interpret/math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "ir/interpret/kernels.hpp"

namespace kerf::ir::eval {
namespace {

struct Range {
  double low, high;
};

/// Largest relative error of the map operator, as the vector kernels compute it, against long double.
double worst_error(MapOp op, long double (*exact)(long double), const std::vector<Range>& ranges) {
  Rng rng(static_cast<std::uint64_t>(op));
  double worst = 0;
  for (const auto& [low, high] : ranges)
    for (int block = 0; block < 40; ++block) {
      std::vector<double> x(kBlock), y(kBlock);
      for (auto& value : x) value = low + (high - low) * rng.uniform();
      kernels().map(op, true, kBlock, x.data(), nullptr, nullptr, y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const long double e = exact(static_cast<long double>(x[i]));
        if (std::fabs(e) > 1e-300L) worst = std::max(worst, static_cast<double>(std::fabs((y[i] - e) / e)));
      }
    }
  return worst;
}

constexpr double kTolerance = 1e-15;

TEST(FastMath, IsWithinAFewUnitsInTheLastPlaceEverywhere) {
  const std::vector<Range> wide{{-1e-6, 1e-6}, {-0.4, 0.4}, {-1, 1}, {-6, 6}, {-40, 40}};
  EXPECT_LT(worst_error(MapOp::exp, std::exp, {{-1, 1}, {-40, 40}, {-700, 709}}), kTolerance);
  EXPECT_LT(worst_error(MapOp::exp2, std::exp2, {{-1, 1}, {-40, 40}, {-1000, 1023}}), kTolerance);
  EXPECT_LT(worst_error(MapOp::expm1, std::expm1, wide), kTolerance);
  EXPECT_LT(worst_error(MapOp::tanh, std::tanh, wide), kTolerance);
  EXPECT_LT(worst_error(MapOp::erf, std::erf, wide), kTolerance);
  EXPECT_LT(worst_error(MapOp::log, std::log, {{0.5, 2}, {0.999, 1.001}, {0, 1000}, {1e-308, 1e-300}, {0, 1e300}}),
            kTolerance);
  EXPECT_LT(worst_error(MapOp::log2, std::log2, {{0.5, 2}, {0.999, 1.001}, {0, 1000}, {0, 1e300}}), kTolerance);
  EXPECT_LT(worst_error(MapOp::log1p, std::log1p, {{-1e-6, 1e-6}, {-0.3, 0.45}, {-0.999, 10}, {0, 1e20}}), kTolerance);
}

double apply(MapOp op, double x) {
  double y = 0;
  kernels().map(op, true, 1, &x, nullptr, nullptr, &y);
  return y;
}

TEST(FastMath, FollowsIeeeAtTheEdges) {
  const double inf = kInfinity, nan = std::numeric_limits<double>::quiet_NaN();
  for (const double x :
       {0.0, -0.0, inf, -inf, nan, -1.0, 709.782712893384, 709.79, -745.2, -744.4, 5e-324, 1e308, -1e308}) {
    const std::vector<std::pair<MapOp, double>> expected{
        {MapOp::exp, std::exp(x)},       {MapOp::exp2, std::exp2(x)},   {MapOp::expm1, std::expm1(x)},
        {MapOp::tanh, std::tanh(x)},     {MapOp::erf, std::erf(x)},     {MapOp::log, std::log(x)},
        {MapOp::log2, std::log2(x)},     {MapOp::log1p, std::log1p(x)}, {MapOp::sqrt, std::sqrt(x)},
        {MapOp::rsqrt, 1 / std::sqrt(x)}};
    for (const auto& [op, e] : expected) {
      const double y = apply(op, x);
      if (std::isnan(e))
        EXPECT_TRUE(std::isnan(y)) << map_op_name(op) << " " << x;
      else if (std::isinf(e) || e == 0)
        EXPECT_TRUE(y == e && std::signbit(y) == std::signbit(e)) << map_op_name(op) << " " << x << ": " << y;
      else
        EXPECT_NEAR(y / e, 1, std::fabs(e) < 1e-300 ? 1 : kTolerance) << map_op_name(op) << " " << x;
    }
  }
}

TEST(FastMath, PowersOfTwoAreExact) {
  for (int k = -1074; k < 1024; ++k) {
    EXPECT_EQ(apply(MapOp::log2, std::ldexp(1.0, k)), k);
    EXPECT_EQ(apply(MapOp::exp2, k), std::ldexp(1.0, k));
  }
}

}  // namespace
}  // namespace kerf::ir::eval
