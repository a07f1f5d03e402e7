#include "model/step.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

Step step_of(std::int64_t number, Stage stage, Outcome outcome, std::vector<std::int64_t> parents = {}) {
  Step step;
  step.number = number;
  step.stage = stage;
  step.parents = std::move(parents);
  step.evaluation.outcome = std::move(outcome);
  step.kept = true;
  step.cell = {0, 0, 0};
  return step;
}

TEST(Steps, AKernelRefusedWhenMeasuredAgainCountsAsRefused) {
  const std::vector<Step> recorded{step_of(1, Stage::start, Measurement{}), step_of(2, Stage::search, Measurement{}),
                                   step_of(3, Stage::final, WrongResult{Gate::values, "y[0]", std::nullopt}, {1}),
                                   step_of(4, Stage::final, Measurement{}, {2}),
                                   step_of(5, Stage::search, Crashed{Gate::small_shape, ""}, {1})};
  EXPECT_EQ(refuted_steps(recorded), std::set<std::int64_t>{1});
  const std::vector<Step> steps = with_refusals(recorded);
  ASSERT_EQ(steps.size(), recorded.size());
  EXPECT_TRUE(std::holds_alternative<WrongResult>(steps[0].evaluation.outcome));
  EXPECT_FALSE(steps[0].kept);
  EXPECT_TRUE(steps[0].cell.empty());
  EXPECT_TRUE(std::holds_alternative<Measurement>(steps[1].evaluation.outcome));
  EXPECT_TRUE(steps[1].kept);
}

}  // namespace
}  // namespace kerf
