#include "memory/values.hpp"

#include <gtest/gtest.h>

namespace kerf::memory {
namespace {

TEST(MemoryValues, DraftRewardsAreGraded) {
  WrongResult mostly_right{Gate::values, "", WrongEvidence{}};
  mostly_right.evidence->wrong = 1;
  mostly_right.evidence->total = 100;
  EXPECT_EQ(draft_reward(Measurement{}, Rule::kerf), 1);
  EXPECT_NEAR(draft_reward(mostly_right, Rule::kerf), -0.003, 1e-9);
  EXPECT_LT(draft_reward(BuildFailed{}, Rule::kerf), draft_reward(Crashed{}, Rule::kerf));
  EXPECT_LT(draft_reward(Rejected{}, Rule::kerf), draft_reward(BuildFailed{}, Rule::kerf));
  EXPECT_EQ(draft_reward(mostly_right, Rule::published), -1);
}

TEST(MemoryValues, RefineRewardComparesWithTheBestSoFar) {
  EXPECT_NEAR(refine_reward(2, 1, Rule::published), (4.0 - 1) / (4 + 1), 1e-12);  // tanh(log r) = (r^2-1)/(r^2+1)
  EXPECT_EQ(refine_reward(0, 1, Rule::kerf), -1);
  EXPECT_EQ(refine_reward(1.01, 1, Rule::kerf), 0) << "within the noise";
  EXPECT_GT(refine_reward(1.01, 1, Rule::published), 0);
  EXPECT_LT(refine_reward(0.5, 1, Rule::kerf), -0.5);
}

TEST(MemoryValues, AKernelThatPassesNeverEarnsLessThanARefusedOne) {
  WrongResult nearly{Gate::values, "", WrongEvidence{}};
  nearly.evidence->wrong = 1;
  nearly.evidence->total = 1 << 20;
  for (const Rule rule : {Rule::kerf, Rule::published, Rule::similar}) {
    for (const Outcome& outcome : std::vector<Outcome>{Rejected{}, BuildFailed{}, Crashed{}, TimedOut{}, nearly})
      EXPECT_LT(draft_reward(outcome, rule), draft_reward(Measurement{}, rule)) << outcome_name(outcome);
    for (const double speed : {1e-12, 0.02, 0.65, 0.98})
      EXPECT_GT(refine_reward(speed, 1, rule), refine_reward(0, 1, rule)) << speed;
  }
}

TEST(MemoryValues, RatesFallWithTheCountAndThePublishedRateDoesNot) {
  StageValue ours, published;
  for (int i = 0; i < 20; ++i) {
    learn(ours, "reduce", 1, Rule::kerf);
    learn(published, "reduce", 1, Rule::published);
  }
  const double before = ours.all.mean, before_published = published.all.mean;
  learn(ours, "reduce", -1, Rule::kerf);
  learn(published, "reduce", -1, Rule::published);
  EXPECT_NEAR(before - ours.all.mean, 0.05 * (before + 1), 1e-9);
  EXPECT_NEAR(before_published - published.all.mean, 0.3 * (before_published + 1), 1e-9);
}

TEST(MemoryValues, AFamilyDiffersFromTheMeanTheMoreTheOftenerItWasSeen) {
  StageValue value;
  for (int i = 0; i < 30; ++i) {
    learn(value, "reduce", 0.6, Rule::kerf);
    learn(value, "contract", -0.6, Rule::kerf);
  }
  EXPECT_GT(value.of("reduce"), value.of("conv"));
  EXPECT_LT(value.of("contract"), value.of("conv"));
  StageValue once;
  learn(once, "reduce", 0.6, Rule::kerf);
  EXPECT_LT(once.of("reduce") - once.of("conv"), value.of("reduce") - value.of("conv"));
}

TEST(MemoryValues, PublishedRewardsAreScaledByTheMomentsBefore) {
  Moments moments;
  for (const double reward : {-1.0, 0.0, 1.0}) moments.add(reward);
  EXPECT_NEAR(moments.deviation(), 1, 1e-12);
  EXPECT_NEAR(scaled_reward(0.5, moments, Rule::published), 0.5, 1e-12);
  Moments same;
  for (int i = 0; i < 9; ++i) same.add(0.2);
  EXPECT_EQ(scaled_reward(1, same, Rule::published), 3) << "clipped";
  EXPECT_EQ(scaled_reward(0.5, same, Rule::kerf), 0.5);
}

TEST(MemoryValues, RulesHaveNames) {
  for (const Rule rule : {Rule::kerf, Rule::published, Rule::similar})
    EXPECT_EQ(rule_from_name(rule_name(rule)).value(), rule);
  const auto unknown = rule_from_name("publishd");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean 'published'"), std::string::npos);
}

}  // namespace
}  // namespace kerf::memory
