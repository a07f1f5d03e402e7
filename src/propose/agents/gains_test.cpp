#include "propose/agents/gains.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::agents {
namespace {

Step measured(std::int64_t number, std::vector<std::int64_t> parents, double speedup) {
  Step step;
  step.number = number;
  step.stage = Stage::search;
  step.parents = std::move(parents);
  Measurement measurement;
  measurement.speedup = {"naive", speedup, speedup, speedup};
  step.evaluation.outcome = measurement;
  return step;
}

TEST(Gains, AreOverTheFirstParentAndNeverNegative) {
  Gains gains;
  EXPECT_DOUBLE_EQ(gains.observe(measured(1, {}, 2)).value(), std::log(2));
  EXPECT_DOUBLE_EQ(gains.observe(measured(2, {1}, 3)).value(), std::log(3) - std::log(2));
  EXPECT_EQ(gains.observe(measured(3, {2}, 1)).value(), 0);
}

TEST(Gains, TakeThePairedTimingWithTheParentWhereThereIsOne) {
  Gains gains;
  (void)gains.observe(measured(1, {}, 2));
  Step child = measured(2, {1}, 6);  // in a quieter moment
  std::get<Measurement>(child.evaluation.outcome).comparison = PairedComparison{1, 4, 1.25, 1.2, 1.3};
  EXPECT_DOUBLE_EQ(gains.observe(child).value(), std::log(1.25));
}

}  // namespace
}  // namespace kerf::agents
