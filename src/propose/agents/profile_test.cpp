#include "propose/agents/profile.hpp"

#include <gtest/gtest.h>

namespace kerf::agents {
namespace {

Counters cores(double busy) {
  Counters counters;
  counters.source = "perf";
  counters.on_host = true;
  counters.workers = busy;
  return counters;
}

Bound bound_from(const Counters& counters) {
  const auto profile = profile_from(counters);
  EXPECT_TRUE(profile.has_value());
  if (!profile) return Bound::latency;
  EXPECT_EQ(profile->evidence, Evidence::counters);
  EXPECT_NE(profile->words.find("by the machine's counters (" + counters.source + ")"), std::string::npos);
  return profile->bound;
}

KernelRecord at(double fraction, const char* bound) {
  KernelRecord record;
  Measurement measurement;
  measurement.shapes.push_back({"default", 1, {100, 90, 110, 30}, {}, {}, SpeedOfLight{50, fraction, bound}});
  record.evaluation.outcome = measurement;
  return record;
}

TEST(Profile, CountersOfAProcessorSayWhatBoundsAKernel) {
  Counters counters = cores(1);
  counters.per_cycle = 0.5;
  counters.memory = 0.7;
  EXPECT_EQ(bound_from(counters), Bound::memory);
  counters.memory = 0.2;
  EXPECT_EQ(bound_from(counters), Bound::latency);
  counters.stalled = 0.7;
  counters.misses = 1;
  EXPECT_EQ(bound_from(counters), Bound::latency);  // it waits, and not for memory
  counters.misses = 20;
  EXPECT_EQ(bound_from(counters), Bound::memory);
  counters.stalled = 0.1;
  counters.per_cycle = 2.8;
  EXPECT_EQ(bound_from(counters), Bound::compute);
  counters.workers = 0.5;
  EXPECT_EQ(bound_from(counters), Bound::occupancy);
}

TEST(Profile, CountersOfAGpuSayWhatBoundsAKernel) {
  Counters counters{"ncu", false, 0.9, 0.3, 0.5, {}, {}, {}};
  EXPECT_EQ(bound_from(counters), Bound::memory);
  counters.memory = 0.3;
  counters.compute = 0.8;
  EXPECT_EQ(bound_from(counters), Bound::compute);
  counters.compute = 0.3;
  EXPECT_EQ(bound_from(counters), Bound::latency);  // half of the warps are enough to hide most waiting
  counters.workers = 0.1;
  EXPECT_EQ(bound_from(counters), Bound::occupancy);
}

TEST(Profile, TheTimeThatThreadsRanDecidesOnlyWhetherThereAreEnough) {
  EXPECT_EQ(bound_from(cores(0.5)), Bound::occupancy);
  EXPECT_FALSE(profile_from(cores(1)));
  EXPECT_FALSE(profile_from({}));
}

TEST(Profile, CountersComeBeforeTheCostModel) {
  KernelRecord record = at(0.95, "memory");
  EXPECT_EQ(profile_of(record, true)->evidence, Evidence::cost_model);
  EXPECT_EQ(profile_text(record, true),
            "Memory bound by the cost model: it reaches 95 % of the machine's limit; little is left to gain.\n");
  record.counters = cores(0.4);
  EXPECT_EQ(profile_text(record, true),
            "Occupancy bound by the machine's counters (perf): 40 % of the cores busy; spread the work over more of "
            "them.\n");
}

TEST(Profile, WhereCountersDecideNothingTheCostModelDoes) {
  KernelRecord record = at(0.4, "compute");
  record.counters = cores(1);
  const auto profile = profile_of(record, true);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->evidence, Evidence::cost_model);
  EXPECT_EQ(profile->bound, Bound::latency);
  EXPECT_NE(profile->words.find("(the machine's counters decide nothing)"), std::string::npos);
}

TEST(Profile, NothingIsSaidOfWhatWasNeitherCountedNorMeasuredAgainstPeaks) {
  KernelRecord record;
  record.evaluation.outcome = BuildFailed{"", "error"};
  EXPECT_EQ(profile_text(record, true), "");
}

}  // namespace
}  // namespace kerf::agents
