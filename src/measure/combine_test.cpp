#include "measure/combine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kerf {
namespace {

TEST(Combine, TheIntervalOfOneShapeIsKept) {
  const auto combined = combine(std::vector<WeightedEstimate>{{3, 2, 1.5, 2.5}});
  ASSERT_TRUE(combined);
  EXPECT_NEAR(combined->centre, 2, 1e-12);
  EXPECT_NEAR(combined->low, 1.5, 1e-12);
  EXPECT_NEAR(combined->high, 2.5, 1e-12);
}

TEST(Combine, IndependentErrorsAddInSquares) {
  const WeightedEstimate one{1, 4, 4 / std::exp(0.2), 4 * std::exp(0.1)};
  const auto combined = combine(std::vector<WeightedEstimate>(4, one));
  ASSERT_TRUE(combined);
  EXPECT_NEAR(combined->centre, 4, 1e-12);
  EXPECT_NEAR(std::log(combined->centre / combined->low), 0.1, 1e-12);  // 0.2 / sqrt(4)
  EXPECT_NEAR(std::log(combined->high / combined->centre), 0.05, 1e-12);
}

TEST(Combine, TheHeavierShapeDecides) {
  const auto combined = combine(std::vector<WeightedEstimate>{{3, 2, 2, 2}, {1, 32, 32, 32}});
  ASSERT_TRUE(combined);
  EXPECT_NEAR(combined->centre, 4, 1e-12);
}

TEST(Combine, NothingComesOfNothing) {
  EXPECT_FALSE(combine({}));
  EXPECT_FALSE(combine(std::vector<WeightedEstimate>{{1, 0, 0, 0}}));
}

TEST(CombineSpeedups, TheStrongestBaselineThatEveryShapeHasDecides) {
  Measurement measurement;
  measurement.shapes.resize(2);
  for (auto& shape : measurement.shapes) {
    shape.weight = 1;
    shape.speedups["naive"] = {"naive", 8, 8 / std::exp(0.2), 8 * std::exp(0.2)};
    shape.speedups["naive-parallel"] = {"naive-parallel", 4, 3, 5};
  }
  measurement.shapes[0].speedups["vendor"] = {"vendor", 0.5, 0.4, 0.6};  // on one shape only: cannot speak for both
  combine_speedups(measurement);
  EXPECT_EQ(measurement.speedup.vs, "naive-parallel");
  EXPECT_NEAR(measurement.speedup.ratio, 4, 1e-12);
  for (auto& shape : measurement.shapes) shape.speedups.erase("naive-parallel");
  combine_speedups(measurement);
  EXPECT_EQ(measurement.speedup.vs, "naive");
  EXPECT_NEAR(std::log(measurement.speedup.high / measurement.speedup.ratio), 0.2 / std::sqrt(2.0), 1e-12);
}

}  // namespace
}  // namespace kerf
