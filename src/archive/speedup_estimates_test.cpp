#include "archive/speedup_estimates.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf {
namespace {

/// A run on a machine whose baseline is timed anew for every step.
struct Timed {
  SpeedupEstimates estimates;
  std::int64_t last = 0;

  std::int64_t add(Step step) {
    step.number = ++last;
    estimates.observe(step);
    return last;
  }
  /// A step that measured `ratio`; if `comparison` names a step, timed in turn with it.
  std::int64_t measured(double ratio, std::optional<PairedComparison> comparison = {}, std::int64_t again = 0) {
    Step step;
    Measurement measurement;
    measurement.speedup = {"naive", ratio, ratio * 0.9, ratio * 1.1};
    measurement.comparison = comparison;
    step.evaluation.outcome = measurement;
    if (again != 0) {
      step.stage = Stage::final;
      step.parents = {again};
    }
    return add(step);
  }
  double so_far(std::int64_t step) const { return estimates.so_far(step).ratio; }
  double on_scale_of(std::int64_t anchor, std::int64_t step) const { return estimates.on_scale_of(anchor, step).ratio; }
};

PairedComparison against(std::int64_t step, double ratio) { return {step, 0, ratio, ratio * 0.99, ratio * 1.01}; }

TEST(SpeedupEstimates, AKernelThatWasTimedAloneHasItsOwnFigure) {
  Timed run;
  const auto one = run.measured(4);
  const Speedup speedup = run.estimates.so_far(one);
  EXPECT_EQ(speedup.vs, "naive");
  EXPECT_EQ(speedup.ratio, 4);
  EXPECT_EQ(speedup.low, 4 * 0.9);
  EXPECT_EQ(speedup.high, 4 * 1.1);
}

TEST(SpeedupEstimates, BeingTimedInTurnDecidesAndNotTheBaselineOfAnotherMinute) {
  Timed run;
  const auto first = run.measured(58);
  const auto second = run.measured(26, against(first, 1.01));  // the baseline was twice as fast by then
  EXPECT_NEAR(run.so_far(second), 58 * 1.01, 1e-9);
  const auto third = run.measured(90, against(second, 0.5));
  EXPECT_NEAR(run.so_far(third), 58 * 1.01 * 0.5, 1e-9);
}

TEST(SpeedupEstimates, NoiseAddsUpAlongTheWay) {
  Timed run;
  const auto first = run.measured(10);
  const auto second = run.measured(10, against(first, 1));
  const Speedup speedup = run.estimates.so_far(second);
  EXPECT_NEAR(std::log(speedup.high / speedup.ratio), std::hypot(std::log(1.1), std::log(1.01)), 1e-9);
  EXPECT_NEAR(std::log(speedup.ratio / speedup.low), std::hypot(std::log(1 / 0.9), std::log(1 / 0.99)), 1e-9);
}

TEST(SpeedupEstimates, InHindsightTheBestsOwnMeasurementIsTheScale) {
  Timed run;
  const auto slow = run.measured(20);
  const auto fast = run.measured(30, against(slow, 2));
  const auto apart = run.measured(10);
  const auto again = run.measured(60, {}, fast);  // the baseline was slower at the end
  EXPECT_EQ(run.on_scale_of(again, again), 60);
  EXPECT_EQ(run.on_scale_of(again, fast), 60) << "the same kernel";
  EXPECT_NEAR(run.on_scale_of(again, slow), 30, 1e-9);
  EXPECT_NEAR(run.on_scale_of(again, apart), 60.0 * 10 / 40, 1e-9);
  EXPECT_EQ(run.so_far(fast), 40) << "what was said during the search stands";
}

TEST(SpeedupEstimates, AKernelNeverTimedInTurnIsAsUnsureAsTheBestsTwoFiguresAreApart) {
  const auto width = [](double again_ratio) {  // of the estimate of a kernel that was timed by itself alone
    Timed run;
    const auto fast = run.measured(30);
    const auto alone = run.measured(10);
    const auto again = run.measured(again_ratio, {}, fast);
    const Speedup speedup = run.estimates.on_scale_of(again, alone);
    return std::log(speedup.high / speedup.low);
  };
  EXPECT_GT(width(60), 2 * std::log(2.0)) << "a factor of two either way: the baseline moved by that";
  EXPECT_LT(width(30), std::log(2.0)) << "the two figures agree";
  Timed run;
  const auto slow = run.measured(20);
  const auto fast = run.measured(30, against(slow, 2));
  const auto again = run.measured(60, {}, fast);
  const Speedup speedup = run.estimates.on_scale_of(again, slow);
  EXPECT_LT(std::log(speedup.high / speedup.low), std::log(2.0)) << "timed in turn: what the baseline did is no matter";
}

TEST(SpeedupEstimates, AFinalistCountsAsWhenItWasMeasuredAgain) {
  Timed run;
  const auto lucky = run.measured(30);
  const auto other = run.measured(29, against(lucky, 0.97));
  const auto first = run.measured(30, {}, lucky);
  const auto winner = run.measured(34, against(first, 1.1), other);
  EXPECT_EQ(run.on_scale_of(winner, winner), 34);
  EXPECT_EQ(run.on_scale_of(winner, other), 34);
  EXPECT_NEAR(run.on_scale_of(winner, first), 34 / 1.1, 1e-9);
  EXPECT_NEAR(run.on_scale_of(winner, lucky), 34 / 1.1, 1e-9);
}

TEST(SpeedupEstimates, NoTwoKernelsContradictWhatTheyShowedInTurn) {
  Timed run;
  const auto a = run.measured(10);
  const auto b = run.measured(50, against(a, 1.2));
  const auto c = run.measured(3, against(b, 0.9));
  for (const auto anchor : {a, b, c}) {
    EXPECT_NEAR(run.on_scale_of(anchor, b) / run.on_scale_of(anchor, a), 1.2, 1e-9);
    EXPECT_NEAR(run.on_scale_of(anchor, c) / run.on_scale_of(anchor, b), 0.9, 1e-9);
  }
}

TEST(SpeedupEstimates, KernelsWithoutTimesAndThePlainOneHaveNone) {
  Timed run;
  const auto one = run.measured(2);
  Step failed;
  failed.evaluation.outcome = Rejected{Gate::parse, "no kernel"};
  const auto refused = run.add(failed);
  Step plain;
  plain.proposer = kBaselineProposer;
  Measurement measurement;
  measurement.speedup = {"naive", 1, 1, 1};
  plain.evaluation.outcome = measurement;
  const auto fallback = run.add(plain);
  for (const auto step : {refused, fallback, std::int64_t{0}, std::int64_t{99}}) {
    EXPECT_EQ(run.so_far(step), 0) << step;
    EXPECT_EQ(run.on_scale_of(one, step), 0) << step;
  }
  EXPECT_EQ(run.on_scale_of(fallback, one), 2) << "never timed in turn: as each measured by itself";
}

TEST(SpeedupEstimates, WhereThePlainKernelIsTheBestOthersAreOnItsScale) {
  Timed run;
  const auto lucky = run.measured(1.65);
  Step plain;
  plain.proposer = kBaselineProposer;
  plain.name = "naive";
  Measurement measurement;
  measurement.speedup = {"naive", 0.8, 0.7, 0.9};  // of itself, at another time
  measurement.comparison = against(lucky, 1.88);
  plain.evaluation.outcome = measurement;
  const auto fallback = run.add(plain);
  EXPECT_NEAR(run.on_scale_of(fallback, lucky), 1 / 1.88, 1e-9);
  EXPECT_EQ(run.on_scale_of(fallback, fallback), 0) << "it is not compared with itself";
  EXPECT_EQ(run.so_far(lucky), 1.65);
}

TEST(SpeedupEstimates, AComparisonWithALaterOrUnknownStepIsNotFollowed) {
  Timed run;
  const auto one = run.measured(3, against(1, 2));
  EXPECT_EQ(run.so_far(one), 3);
  const auto two = run.measured(5, against(7, 2));
  EXPECT_EQ(run.so_far(two), 5);
}

}  // namespace
}  // namespace kerf
