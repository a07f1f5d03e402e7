#include "measure/counters.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kerf {
namespace {

DeviceFacts two_cores() {
  DeviceFacts facts;
  facts.compute_units = 2;
  return facts;
}

TEST(Counters, OfAProcessorBecomeShares) {
  const Counted counted{"perf",
                        {{"busiest_us", 1000},
                         {"task_clock_us", 1500},
                         {"instructions", 4e6},
                         {"cycles", 5e6},
                         {"cache_misses", 1e5},
                         {"stalled_cycles", 3e6}}};
  const Peaks peaks{"a processor", {{"copy", 1e10}}};
  const Counters counters = counters_of(counted, two_cores(), &peaks);
  EXPECT_EQ(counters.source, "perf");
  EXPECT_DOUBLE_EQ(*counters.workers, 0.75);
  EXPECT_DOUBLE_EQ(*counters.per_cycle, 0.8);
  EXPECT_DOUBLE_EQ(*counters.stalled, 0.6);
  EXPECT_DOUBLE_EQ(*counters.misses, 25);
  EXPECT_DOUBLE_EQ(*counters.memory, 0.64);  // 6.4 MB in a millisecond, of 10 GB/s
  EXPECT_FALSE(counters.compute);
}

TEST(Counters, WithoutPeaksTheBandwidthOfAProcessorIsNotKnown) {
  const Counted counted{"perf", {{"busiest_us", 1000}, {"cache_misses", 1e5}}};
  EXPECT_FALSE(counters_of(counted, two_cores(), nullptr).memory);
}

TEST(Counters, OfAGpuAreSharesAlready) {
  const Counted counted{"ncu",
                        {{counter_names::gpu_memory_percent, 91.5},
                         {counter_names::gpu_compute_percent, 20},
                         {counter_names::gpu_warps_percent, 48}}};
  const Counters counters = counters_of(counted, {}, nullptr);
  EXPECT_DOUBLE_EQ(*counters.memory, 0.915);
  EXPECT_DOUBLE_EQ(*counters.compute, 0.2);
  EXPECT_DOUBLE_EQ(*counters.workers, 0.48);
  EXPECT_FALSE(counters.per_cycle);
}

TEST(Counters, ValuesThatMeanNothingAreAbsent) {
  const Counted counted{"perf",
                        {{"busiest_us", 0},
                         {"task_clock_us", 5},
                         {"cycles", std::numeric_limits<double>::quiet_NaN()},
                         {"instructions", -1}}};
  const Counters counters = counters_of(counted, two_cores(), nullptr);
  EXPECT_FALSE(counters.workers || counters.per_cycle || counters.misses || counters.stalled);
}

}  // namespace
}  // namespace kerf
