#include "device/arena/perf_counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "device/device.hpp"

namespace kerf::arena {
namespace {

void work() {
  volatile long turns = 0;
  while (turns < 20'000'000) turns = turns + 1;
}

TEST(PerfCounters, OnlyWhatHappensBetweenStartAndStopCounts) {
  auto counters = PerfCounters::open(::getpid());
  if (!counters) GTEST_SKIP() << counters.error().message;
  work();
  EXPECT_TRUE(counters->values().empty());
  counters->start();
  work();
  counters->stop();
  const double once = counters->values().at(counter_names::task_clock_us);
  EXPECT_GT(once, 500);
  work();
  EXPECT_EQ(counters->values().at(counter_names::task_clock_us), once);
}

TEST(PerfCounters, ThreadsThatAreStartedLaterCountToo) {
  auto counters = PerfCounters::open(::getpid());
  if (!counters) GTEST_SKIP() << counters.error().message;
  counters->start();
  work();
  const double alone = counters->values().at(counter_names::task_clock_us);
  counters->start();
  std::thread other(work);
  other.join();
  work();
  counters->stop();
  EXPECT_GT(counters->values().at(counter_names::task_clock_us), 1.2 * alone);
}

TEST(PerfCounters, AProcessThatIsGoneCannotBeCounted) {
  const auto counters = PerfCounters::open(0x7ffffff0);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().code, Errc::unavailable);
  EXPECT_NE(counters.error().message.find("perf_event_open"), std::string::npos);
}

}  // namespace
}  // namespace kerf::arena
