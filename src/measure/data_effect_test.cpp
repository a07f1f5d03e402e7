#include "measure/data_effect.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "base/statistics.hpp"

namespace kerf {
namespace {

struct Timed {
  std::vector<double> us;
  std::vector<int> data;
};

/// `rounds` samples over data sets with these levels in turn, each off by up to `noise`.
Timed samples(const std::vector<double>& levels, int rounds, double noise) {
  Timed timed;
  Rng rng(7);
  for (int i = 0; i < rounds; ++i) {
    const auto set = static_cast<std::size_t>(i) % levels.size();
    timed.us.push_back(levels[set] * (1 + noise * (2 * rng.uniform() - 1)));
    timed.data.push_back(static_cast<int>(set));
  }
  return timed;
}

double noise_of(const std::vector<double>& us) {
  const Interval interval = median_interval(us);
  return (interval.high - interval.low) / 2 / median(us);
}

TEST(DataEffect, SamplesOfDataThatTakesLongerAreMovedToTheMeanOverDataSets) {
  const Timed timed = samples({50, 50, 50, 80}, 16, 0.01);
  const auto moved = without_data_effect(timed.us, timed.data, 4);
  EXPECT_GT(noise_of(timed.us), 0.1);
  EXPECT_LT(noise_of(moved), 0.02);
  EXPECT_NEAR(median(moved), std::pow(50.0 * 50 * 50 * 80, 0.25), 1);
}

TEST(DataEffect, NoiseThatHasNothingToDoWithTheDataStays) {
  const Timed timed = samples({50, 50, 50, 50}, 16, 0.3);
  EXPECT_EQ(without_data_effect(timed.us, timed.data, 4), timed.us);
}

TEST(DataEffect, OneSampleOfADataSetSaysNothingAboutIt) {
  const Timed timed = samples({50, 60, 70, 80}, 7, 0.001);
  EXPECT_EQ(without_data_effect(timed.us, timed.data, 4), timed.us);
  const Timed three = samples({50, 60, 70}, 12, 0.001);  // the fourth has not come yet
  EXPECT_EQ(without_data_effect(three.us, three.data, 4), three.us);
}

TEST(DataEffect, BatchesOfSeveralDataSetsAndMissingRoundsAreLeftAlone) {
  Timed timed = samples({50, 80}, 8, 0.001);
  timed.us[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(without_data_effect(timed.us, timed.data, 2)[3]));
  EXPECT_NE(without_data_effect(timed.us, timed.data, 2)[2], timed.us[2]);
  timed.data[5] = kSeveralDataSets;
  EXPECT_EQ(without_data_effect(timed.us, timed.data, 2)[2], timed.us[2]);
}

}  // namespace
}  // namespace kerf
