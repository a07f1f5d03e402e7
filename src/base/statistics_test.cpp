#include "base/statistics.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(Median, IgnoresOneHugeOutlier) { EXPECT_EQ(median({1.0, 2.0, 900.0}), 2.0); }
TEST(Median, OfAnEvenSampleIsTheMiddle) { EXPECT_EQ(median({1.0, 2.0, 4.0, 900.0}), 3.0); }

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({0.0, 10.0}, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(quantile({3.0}, 0.9), 3.0);
}

TEST(MedianInterval, OfAFewSamplesIsTheWholeRange) {
  const Interval interval = median_interval({5.0, 1.0, 3.0});
  EXPECT_EQ(interval.low, 1.0);
  EXPECT_EQ(interval.high, 5.0);
}

TEST(MedianInterval, CoversTheTrueMedianAboutAsOftenAsItSays) {
  Rng rng(11);
  int covered = 0;
  constexpr int kTrials = 400;
  for (int t = 0; t < kTrials; ++t) {
    std::vector<double> sample(31);
    for (auto& x : sample) x = rng.normal();
    const Interval interval = median_interval(sample);
    covered += interval.low <= 0 && interval.high >= 0 ? 1 : 0;
  }
  EXPECT_GT(covered, kTrials * 0.92);
}

TEST(RatioInterval, OfASampleWithItselfIsExactlyOne) {
  const std::vector<double> a{1, 2, 3, 4, 5};
  const Interval interval = ratio_interval(a, a, Rng(1));
  EXPECT_EQ(interval.low, 1.0);
  EXPECT_EQ(interval.high, 1.0);
}

TEST(RatioInterval, SeparatesAClearDifference) {
  Rng rng(5);
  std::vector<double> slow(40), fast(40);
  for (auto& x : slow) x = 2 + 0.05 * rng.normal();
  for (auto& x : fast) x = 1 + 0.05 * rng.normal();
  const Interval interval = ratio_interval(slow, fast, Rng(1));
  EXPECT_GT(interval.low, 1.8);
  EXPECT_LT(interval.high, 2.2);
}

}  // namespace
}  // namespace kerf
