#include "tuner_trace.hpp"

#include <gtest/gtest.h>

namespace kerf::perf {
namespace {

const char* kTiny = R"({"values": [[1, 2, 4], [0, 1]],
  "points": [[1, 0], [2, 0], [4, 0], [1, 1], [4, 1]], "us": [30, 20, 10.1, null, 10]})";

TEST(TunerTrace, CountsTimingsUpToTheFirstThatIsClose) {
  const TraceLandscape tiny = parse_trace_landscape(kTiny).value();
  EXPECT_EQ(tiny.best(), 10);
  std::set<int> starts;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto trace = trace_tuner(tiny, 50, seed, 1.02).value();
    ASSERT_FALSE(trace.empty());
    starts.insert(trace.front());
    EXPECT_TRUE(trace.back() == 2 || trace.back() == 4) << "both are within 2 %";
    for (std::size_t i = 0; i + 1 < trace.size(); ++i) EXPECT_LT(trace[i], 4);
    for (std::size_t i = 0; i + 1 < trace.size(); ++i) EXPECT_NE(trace[i], 2);
    EXPECT_EQ(std::set<int>(trace.begin(), trace.end()).size(), trace.size()) << "nothing is timed twice before";
    EXPECT_EQ(trace_tuner(tiny, 50, seed, 1.0).value().back(), 4);
  }
  EXPECT_GE(starts.size(), 4U) << "it begins anywhere";
}

TEST(TunerTrace, EndsWithItsBudget) {
  const auto trace = trace_tuner(parse_trace_landscape(kTiny).value(), 1, 1, 1.0).value();
  EXPECT_EQ(trace.size(), 1U);
}

TEST(TunerTrace, SaysWhatIsWrongWithALandscape) {
  for (const char* bad :
       {"", "[]", R"({"values": [[1]]})", R"({"values": [[1]], "points": [[]], "us": [1]})",
        R"({"values": [[1]], "points": [[1]], "us": [null]})", R"({"values": [[1]], "points": [[1]], "us": []})"}) {
    const auto landscape = parse_trace_landscape(bad);
    ASSERT_FALSE(landscape.has_value()) << bad;
    EXPECT_NE(landscape.error().message.find("not a landscape"), std::string::npos);
  }
}

}  // namespace
}  // namespace kerf::perf
