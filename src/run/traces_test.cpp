#include "run/traces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

Step step(std::int64_t number, Outcome outcome, bool asked) {
  Step made;
  made.number = number;
  made.proposer = asked ? "llm" : "builtin";
  made.source = "kernel \xFF";
  made.evaluation.outcome = std::move(outcome);
  if (asked)
    made.exchanges.push_back({"policy", "m", "draft-1", 1, {{"user", "write"}}, "answer", "", "reply", 3, 4, 0.5, 2});
  return made;
}

Measurement measured(double ratio) {
  Measurement measurement;
  measurement.speedup = {"naive", ratio, ratio, ratio};
  return measurement;
}

TEST(Traces, EveryExchangeIsALineWithItsVerdictAndReward) {
  FakeRunStore store;
  ASSERT_TRUE(store.set("task", "rowsum"));
  ASSERT_TRUE(store.append(step(1, BuildFailed{"", "error"}, true)));
  Step second = step(2, measured(2), true);
  second.exchanges.insert(second.exchanges.begin(), second.exchanges.front());
  second.exchanges.front().role = "evolve";
  ASSERT_TRUE(store.append(second));
  ASSERT_TRUE(store.append(step(3, measured(4), false)));
  ASSERT_TRUE(store.append(step(4, measured(8), true)));
  std::vector<nlohmann::json> lines;
  const auto count = export_traces(store, [&](const std::string& line) -> Status {
    EXPECT_EQ(line.find('\n'), std::string::npos);
    lines.push_back(nlohmann::json::parse(line));
    return {};
  });
  ASSERT_EQ(count.value(), 4);
  for (const char* key : {"operation", "parents", "context", "kernel", "verdict", "reward"})
    EXPECT_TRUE(lines[1].at(key).is_null()) << key << ": a prompt is not judged by the kernel that was next";
  lines.erase(lines.begin() + 1);
  EXPECT_EQ(lines[0]["task"], "rowsum");
  EXPECT_EQ(lines[0]["messages"][0]["content"], "write");
  EXPECT_EQ(lines[0]["verdict"]["message"], "error");
  EXPECT_EQ(lines[0]["reward"], -0.8);
  EXPECT_EQ(lines[1]["reward"], 1);
  EXPECT_NEAR(lines[2]["reward"].get<double>(), 4.0 / 5, 1e-9);
  EXPECT_EQ(lines[2]["reply"], "answer");
}

TEST(Traces, RewardsGradeHowFarAKernelCame) {
  WrongResult half{Gate::values, "", WrongEvidence{}};
  half.evidence->wrong = 5;
  half.evidence->total = 10;
  EXPECT_EQ(trace_reward(Rejected{}, {}), -1);
  EXPECT_EQ(trace_reward(TimedOut{}, {}), -0.5);
  EXPECT_NEAR(trace_reward(half, {}), -0.15, 1e-12);
  EXPECT_EQ(trace_reward(measured(0.5), {}), 1);
  EXPECT_NEAR(trace_reward(measured(1), 0.0), 0.5, 1e-12) << "as fast as the best";
}

TEST(Traces, AKernelThatPassesNeverEarnsLessThanARefusedOne) {
  WrongResult nearly{Gate::values, "", WrongEvidence{}}, other{Gate::values, "", {}};
  nearly.evidence->wrong = 1;
  nearly.evidence->total = 1 << 20;
  const std::vector<Outcome> refused{Rejected{}, BuildFailed{}, Crashed{}, TimedOut{}, other, nearly};
  double least = 1;
  for (const double ratio : {1e-6, 0.02, 0.65, 0.98, 1.0, 40.0})
    for (const double best : {1.0, 8.7, 1000.0}) least = std::min(least, trace_reward(measured(ratio), std::log(best)));
  EXPECT_GT(least, 0);
  for (const auto best : {std::optional<double>(), std::optional(0.0), std::optional(std::log(8.7))}) {
    double before = -1;
    for (const Outcome& outcome : refused) {
      const double reward = trace_reward(outcome, best);
      EXPECT_LT(reward, least) << outcome_name(outcome);
      EXPECT_GE(reward, before) << outcome_name(outcome) << ": the further it came the more";
      before = reward;
    }
  }
  EXPECT_LT(trace_reward(measured(0.5), 0.0), trace_reward(measured(0.9), 0.0));
  EXPECT_LT(trace_reward(measured(0.9), 0.0), trace_reward(measured(2), 0.0));
}

}  // namespace
}  // namespace kerf
