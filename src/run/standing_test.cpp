#include "run/standing.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(Standing, IsDecidedByTheWholeInterval) {
  EXPECT_EQ(standing_of({"naive", 1.5, 1.2, 1.9}), Standing::faster);
  EXPECT_EQ(standing_of({"naive", 1.5, 0.9, 1.9}), Standing::undecided);
  EXPECT_EQ(standing_of({"naive", 0.8, 0.7, 0.9}), Standing::slower);
  EXPECT_EQ(standing_of({}), Standing::untimed);
}

TEST(Standing, ANaiveKernelThatWasRefusedIsNotOffered) {
  std::vector<Step> steps(2);
  steps[0].evaluation.outcome = WrongResult{Gate::values, "a kernel of the search", {}};
  steps[1].proposer = kBaselineProposer;
  steps[1].source = "plain";
  steps[1].evaluation.outcome = Measurement{};
  EXPECT_TRUE(naive_is_usable(steps, "plain"));
  steps[1].evaluation.outcome = WrongResult{Gate::values, "", {}};
  EXPECT_FALSE(naive_is_usable(steps, "plain"));
  EXPECT_TRUE(naive_is_usable(steps, "another plain one"));
  steps[1].evaluation.outcome = Rejected{Gate::duplicate, "the compiled code is that of step 1"};
  EXPECT_TRUE(naive_is_usable(steps, "plain")) << "it was not refused itself";
  EXPECT_TRUE(naive_is_usable({}, "plain"));
}

}  // namespace
}  // namespace kerf
