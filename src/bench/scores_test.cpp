#include "bench/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/bench_fixture.hpp"

namespace kerf::bench {
namespace {

using test::failed_record;
using test::good_record;

TEST(FastP, IsStrict) {
  const std::vector<ScoredTask> tasks{{true, 1.0}, {true, 1.0000001}, {true, 2.0}, {true, 2.5}};
  EXPECT_DOUBLE_EQ(fast_p(tasks, 1), 0.75) << "a speedup of exactly 1 is not above 1";
  EXPECT_DOUBLE_EQ(fast_p(tasks, 2), 0.25);
  EXPECT_DOUBLE_EQ(fast_p(tasks, 0), 1);
}

TEST(FastP, HasEveryTaskInTheDenominator) {
  const std::vector<ScoredTask> tasks{{true, 3}, {false, 5}, {false, 0}, {true, 0}};
  EXPECT_DOUBLE_EQ(fast_p(tasks, 1), 0.25) << "wrong, failed and untimed ones count as not fast";
  EXPECT_DOUBLE_EQ(fast_p({}, 1), 0);
}

TEST(GeometricMean, CountsFailuresAsOne) {
  const std::vector<ScoredTask> tasks{{true, 8}, {false, 100}, {true, 0}};
  EXPECT_NEAR(geometric_mean_with_failures(tasks), 2.0, 1e-12) << "the third root of 8";
  const std::vector<ScoredTask> slow{{true, 0.25}, {true, 1}};
  EXPECT_NEAR(geometric_mean_with_failures(slow), 0.5, 1e-12) << "a slow kernel is not forgiven";
  EXPECT_DOUBLE_EQ(geometric_mean_with_failures({}), 1);
}

TEST(ScoreSets, CountFailedAndMissingOnesByLevelAndTogether) {
  Record missing;
  missing.problem = test::made_problem(1, 4);
  const std::vector<Record> records{good_record(1, 1, 4), good_record(1, 2, 1.1),
                                    failed_record(1, 3, Failure::refused, "import"), missing, good_record(2, 1, 3)};
  const auto sets = score_sets(records);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[0].level, 1);
  EXPECT_EQ(sets[0].eager.tasks, 4);
  EXPECT_EQ(sets[0].eager.correct, 2);
  EXPECT_EQ(sets[0].failed, 1);
  EXPECT_EQ(sets[0].missing, 1);
  EXPECT_DOUBLE_EQ(sets[0].eager.fast_1, 0.5);
  EXPECT_DOUBLE_EQ(sets[0].eager.fast_1_2, 0.25);
  EXPECT_NEAR(sets[0].eager.geometric_mean, std::pow(4.4, 0.25), 1e-9);
  EXPECT_DOUBLE_EQ(sets[0].compiled.fast_1, 0.25) << "1.1 over eager is 0.88 over torch.compile";
  EXPECT_DOUBLE_EQ(sets[0].torch_compile.fast_1, 0.5);
  EXPECT_EQ(sets[2].level, -1);
  EXPECT_EQ(sets[2].eager.tasks, 5);
  EXPECT_DOUBLE_EQ(sets[2].eager.fast_2, 0.4);
}

TEST(ScoreSets, VerdictsAreCountedApart) {
  std::vector<Record> records{good_record(1, 1, 4), good_record(1, 2, 4)};
  records[1].kernelbench_correct = false;
  const auto sets = score_sets(records);
  EXPECT_DOUBLE_EQ(sets[0].eager.fast_1, 1);
  EXPECT_DOUBLE_EQ(sets[0].eager_by_kernelbench.fast_1, 0.5);
  EXPECT_NEAR(sets[0].eager_by_kernelbench.geometric_mean, 2, 1e-9);
}

TEST(ScoreSets, FiguresWithoutWeakProblemsHaveASmallerDenominator) {
  std::vector<Record> records{good_record(1, 1, 4), good_record(1, 2, 0.5)};
  EXPECT_FALSE(score_sets(records)[0].eager_without_weak);
  records[0].weak = {"zeros"};
  const auto sets = score_sets(records);
  EXPECT_EQ(sets[0].weak, 1);
  EXPECT_DOUBLE_EQ(sets[0].eager.fast_1, 0.5);
  ASSERT_TRUE(sets[0].eager_without_weak);
  EXPECT_EQ(sets[0].eager_without_weak->tasks, 1);
  EXPECT_DOUBLE_EQ(sets[0].eager_without_weak->fast_1, 0);
}

TEST(ScoreSets, AKernelThatFailedInPyTorchIsNoWinHoweverFast) {
  Record record = good_record(1, 1, 10);
  record.progress = Progress::exported;
  record.failure = Failure::wrong;
  record.correct = false;
  const auto sets = score_sets(std::vector{record});
  EXPECT_DOUBLE_EQ(sets[0].eager.fast_1, 0);
  EXPECT_DOUBLE_EQ(sets[0].eager.geometric_mean, 1);
  EXPECT_DOUBLE_EQ(sets[0].torch_compile.fast_1, 1) << "torch.compile's own figure stays";
}

TEST(Failures, AreCountedByReasonMostFirst) {
  const std::vector<Record> records{failed_record(1, 1, Failure::no_kernel, "search"), good_record(1, 2, 2),
                                    failed_record(1, 3, Failure::refused, "import"),
                                    failed_record(1, 4, Failure::refused, "import")};
  const auto counts = failures_by_reason(records);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].failure, Failure::refused);
  EXPECT_EQ(counts[0].problems, (std::vector<std::string>{"1/3", "1/4"}));
}

}  // namespace
}  // namespace kerf::bench
