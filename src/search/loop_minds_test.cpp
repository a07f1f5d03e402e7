// Searches with minds that take their time, fail, or answer with what is no kernel.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "search/loop_fixture.hpp"

namespace kerf {
namespace {

using landscape::Point;

/// A mind that takes its time: answers come from other threads, and some are no kernels.
class SlowMind final : public Proposer {
 public:
  std::function<Result<std::optional<Proposal>>(const ProposalRequest&)> answer;
  int at_once = 2;
  std::atomic<int> asked{0}, under_way{0}, most_under_way{0};
  std::atomic<bool> cancelled{false};
  std::atomic<int> spent_after{1 << 30};  // questions
  std::vector<std::int64_t> observed;     // steps

  std::string called = "slow";
  bool drafts = false;  // offers them

  std::string_view name() const override { return called; }
  std::vector<OperationInfo> operations() const override {
    std::vector<OperationInfo> all{{"start"}, {"refine", true}};
    if (drafts) all.push_back({"draft"});
    return all;
  }
  int questions_at_once() const override { return at_once; }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    ++asked;
    const int now = ++under_way;
    for (int most = most_under_way; now > most && !most_under_way.compare_exchange_weak(most, now);) {
    }
    auto result = answer(request);
    --under_way;
    return result;
  }
  void cancel() override { cancelled = true; }
  void observe(const Step& step) override { observed.push_back(step.number); }
  Spending spending() const override {
    Spending now{10 * asked, 1000, 0, 0};
    if (asked >= spent_after) now.used_up = "the money is gone";
    return now;
  }
};

Result<std::optional<Proposal>> no_connection(const ProposalRequest&) {
  return fail(Errc::unavailable, "no connection");
}

TEST_F(LoopTest, AnAnswerThatIsNoKernelIsARejectedStep) {
  SlowMind mind;
  mind.at_once = 1;
  mind.answer = [&](const ProposalRequest&) -> Result<std::optional<Proposal>> {
    const int n = mind.asked;
    if (n % 2 == 1) return std::optional(Proposal{"talk", "Sure! Here is\n/* kerf\ntune: X = {}\n*/\n", "", {}, ""});
    return std::optional(point_proposal({n % 24, 3, 0}));
  };
  options.evaluations = 10;
  run_with("a", {&mind});
  ASSERT_EQ(error, "");
  const auto all = steps("a");
  int rejected = 0;
  for (const Step& step : all)
    if (step.name == "talk") {
      EXPECT_EQ(outcome_name(step.evaluation.outcome), "rejected");
      EXPECT_FALSE(outcome_message(step.evaluation.outcome).empty());
      EXPECT_NE(step.source.find("Sure!"), std::string::npos) << "the answer is kept as it came";
      if (!is_duplicate(step)) ++rejected;
    }
  EXPECT_GT(rejected, 0);
  EXPECT_GT(evaluator.evaluated, 3);
}

/// A mind that refines, and what it was shown of the counters of its parents.
struct ShownCounters {
  SlowMind mind;
  std::map<std::int64_t, std::vector<std::string>> by_parent;  // "": none
  ShownCounters() {
    mind.at_once = 1;
    mind.answer = [this](const ProposalRequest& request) -> Result<std::optional<Proposal>> {
      const auto& parent = request.parent;
      if (parent) by_parent[parent->step].push_back(parent->counters ? parent->counters->source : "");
      const int n = mind.asked;
      return std::optional(point_proposal({n % 24, n / 24 + 3, 0}));
    };
  }
};

TEST_F(LoopTest, AKernelIsCountedOnceBeforeASlowMindIsToMakeItFaster) {
  ShownCounters shown;
  options.evaluations = 25;
  run_with("a", {&shown.mind});
  ASSERT_EQ(error, "");
  ASSERT_FALSE(shown.by_parent.empty());
  EXPECT_EQ(static_cast<std::size_t>(evaluator.counted), shown.by_parent.size());
  for (const auto& [step, sources] : shown.by_parent)
    for (const std::string& source : sources)
      EXPECT_EQ(source, steps("a")[static_cast<std::size_t>(step - 1)].genome) << "the counters are the parent's own";
}

TEST_F(LoopTest, WhereNothingCanBeCountedItIsSaidOnceAndNotTriedAgain) {
  ShownCounters shown;
  evaluator.uncounted = "this machine has none";
  options.evaluations = 15;
  run_with("a", {&shown.mind});
  ASSERT_EQ(error, "");
  EXPECT_EQ(evaluator.counted, 1);
  EXPECT_EQ(std::ranges::count_if(notes, [](const std::string& n) { return n.find("has none") != std::string::npos; }),
            1);
  for (const auto& [step, sources] : shown.by_parent) EXPECT_EQ(sources.front(), "");
  EXPECT_GT(shown.by_parent.size(), 0u);
}

TEST_F(LoopTest, NothingIsCountedWhereItIsNotWanted) {
  ShownCounters shown;
  options.counters = 0;
  options.evaluations = 10;
  run_with("a", {&proposer, &shown.mind});
  EXPECT_EQ(evaluator.counted, 0);
  run_with("b", {&proposer});  // nor for minds that answer at once
  EXPECT_EQ(evaluator.counted, 0);
}

TEST_F(LoopTest, TheDeviceDoesNotWaitForASlowMind) {
  SlowMind mind;
  std::atomic<bool> free{false};
  mind.answer = [&](const ProposalRequest&) -> Result<std::optional<Proposal>> {
    while (!free && !mind.cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::optional(point_proposal({23, 23, 0}));
  };
  options.evaluations = 30;
  evaluator.before = [&] {
    if (evaluator.evaluated < 20) return;
    free = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the slow mind has time to answer
  };
  run_with("a", {&proposer, &mind});
  ASSERT_EQ(error, "");
  EXPECT_GE(evaluator.evaluated, 20) << "the other mind kept the device busy";
  EXPECT_EQ(mind.most_under_way, 2);
  EXPECT_GT(std::ranges::count_if(steps("a"), [](const Step& s) { return s.proposer == "slow"; }), 0);
}

TEST_F(LoopTest, AMindIsNotAskedAgainBeforeItsAnswerIsJudged) {
  SlowMind mind;
  mind.at_once = 1;
  int early = 0;
  mind.answer = [&](const ProposalRequest&) -> Result<std::optional<Proposal>> {
    const int n = mind.asked;
    early += evaluator.evaluated + 1 < n ? 1 : 0;
    return std::optional(point_proposal({n % 24, n % 5, 0}));
  };
  evaluator.before = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  options.evaluations = 8;
  run_with("a", {&mind});
  ASSERT_EQ(error, "");
  EXPECT_EQ(early, 0);
}

TEST_F(LoopTest, QuestionsUnderWayAreGivenUpAtTheEnd) {
  SlowMind mind;
  mind.answer = [&](const ProposalRequest&) -> Result<std::optional<Proposal>> {
    while (!mind.cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fail(Errc::cancelled, "given up");
  };
  options.evaluations = 5;
  run_with("a", {&proposer, &mind});
  EXPECT_EQ(error, "");
  EXPECT_TRUE(mind.cancelled);
}

TEST_F(LoopTest, AMindThatKeepsFailingIsNoLongerAsked) {
  SlowMind mind;
  mind.at_once = 1;
  mind.answer = no_connection;
  options.evaluations = 25;
  evaluator.before = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  run_with("a", {&proposer, &mind});
  EXPECT_EQ(error, "");
  EXPECT_EQ(mind.asked, 3);
  EXPECT_EQ(evaluator.evaluated, 25);
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front(), "the slow mind failed: no connection");
  run_with("alone", {&mind});
  EXPECT_EQ(error, "no connection") << "nobody is left to ask";
}

TEST_F(LoopTest, ARunInWhichNoMindCouldAnswerIsAnErrorThatIsToldOnce) {
  SlowMind mind, silent;
  mind.at_once = 2;
  mind.answer = no_connection;
  silent.called = "silent";
  silent.at_once = 0;  // like a memory that has nothing for this task
  silent.answer = [](const ProposalRequest&) -> Result<std::optional<Proposal>> { return std::optional<Proposal>{}; };
  options.evaluations = 10;
  run_with("a", {&silent, &mind});
  EXPECT_EQ(error, "nothing was evaluated: the slow mind keeps failing: no connection");
  EXPECT_TRUE(notes.empty()) << notes.front();
  EXPECT_LE(mind.asked, 4);
}

TEST_F(LoopTest, AMendedRefinementIsARefinementWhateverWasAskedFor) {
  SlowMind mind;
  mind.at_once = 1;
  mind.drafts = true;
  mind.answer = [&](const ProposalRequest& request) -> Result<std::optional<Proposal>> {
    Proposal proposal = point_proposal({mind.asked % 24, mind.asked % 5, 0});
    if (request.operation == "draft") proposal.parents = {1};
    return std::optional(proposal);
  };
  options.evaluations = 12;
  run_with("a", {&mind});
  ASSERT_EQ(error, "");
  int refined = 0;
  for (const Step& step : steps("a")) {
    EXPECT_NE(step.operation, "draft") << step.number;
    refined += step.operation == "refine" && !step.asked.parent ? 1 : 0;
  }
  EXPECT_GT(refined, 0);
}

TEST_F(LoopTest, AModelIsToldOfAKnownKernelThatItWrote) {
  SlowMind mind;
  mind.at_once = 1;
  std::atomic<int> told{0};
  mind.answer = [&](const ProposalRequest& request) -> Result<std::optional<Proposal>> {
    int known = 0;
    for (const KernelRecord& failure : request.failures)
      known += outcome_gate(failure.evaluation.outcome) == "duplicate" ? 1 : 0;
    EXPECT_LE(known, 1);
    told += known;
    Proposal proposal = point_proposal({mind.asked % 3, 3, 0});
    proposal.provenance.prompt = "refine-1";
    return std::optional(proposal);
  };
  mind.spent_after = 10;
  options.evaluations = 10;
  run_with("a", {&mind});
  EXPECT_GT(told, 2);
}

TEST_F(LoopTest, TheSameFailureIsNotedOnce) {
  SlowMind mind;
  mind.at_once = 1;
  mind.answer = no_connection;
  options.evaluations = 25;
  evaluator.before = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  run_with("a", {&proposer, &mind});
  EXPECT_EQ(std::ranges::count(notes, "the slow mind failed: no connection"), 1);
}

TEST_F(LoopTest, EndsCleanlyWhenTheMindHasNothingLeftToSpend) {
  SlowMind mind;
  mind.at_once = 1;
  mind.spent_after = 7;
  mind.answer = [&](const ProposalRequest&) -> Result<std::optional<Proposal>> {
    return std::optional(point_proposal({mind.asked % 24, mind.asked % 5, 0}));
  };
  options.evaluations = 50;
  const SearchResult result = run_with("a", {&mind});
  EXPECT_EQ(error, "");
  EXPECT_EQ(result.stopped, "the money is gone");
  EXPECT_EQ(mind.asked, 7);
  EXPECT_GT(result.best_step, 0);
}

TEST_F(LoopTest, MindsAreToldOfEveryStepAlsoOfThoseBeforeAResume) {
  SlowMind mind;
  mind.spent_after = 0;
  options.evaluations = 6;
  run_with("a", {&proposer, &mind});
  const auto first = mind.observed;
  ASSERT_FALSE(first.empty());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], static_cast<std::int64_t>(i) + 1);
  SlowMind again;
  again.spent_after = 0;
  options.evaluations = 8;
  run_with("a", {&proposer, &again});
  EXPECT_GT(again.observed.size(), first.size());
  EXPECT_EQ(again.observed.front(), 1);
}

TEST_F(LoopTest, AnAnswerThatItsMindCouldNotReadIsRejectedWithTheReason) {
  SlowMind mind;
  mind.at_once = 1;
  mind.spent_after = 1;
  mind.answer = [&](const ProposalRequest&) -> Result<std::optional<Proposal>> {
    Proposal proposal{"talk", "no idea", "", {}, ""};
    proposal.unreadable = "the answer holds no kernel";
    proposal.exchanges.resize(1);
    return std::optional(proposal);
  };
  run_with("a", {&mind});
  const auto all = steps("a");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(outcome_gate(all[0].evaluation.outcome), "parse");
  EXPECT_EQ(outcome_message(all[0].evaluation.outcome), "the answer holds no kernel");
  EXPECT_EQ(all[0].source, "no idea");
}

TEST_F(LoopTest, SlowMindsAreShownWhatFailed) {
  SlowMind mind;
  mind.at_once = 1;
  std::vector<std::string> shown;  // written by the one question under way, read after the run
  std::atomic<int> judged{0};
  mind.answer = [&](const ProposalRequest& request) -> Result<std::optional<Proposal>> {
    while (judged < mind.asked - 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const KernelRecord& failure : request.failures) shown.push_back(outcome_message(failure.evaluation.outcome));
    return std::optional(point_proposal({mind.asked % 24, 2 + mind.asked / 24, 0}));
  };
  evaluator.outcome = [&](const Point&) -> std::optional<Outcome> {
    ++judged;
    return WrongResult{Gate::values, "y[3] is 4, not 5", std::nullopt};
  };
  options.evaluations = 12;
  run_with("a", {&mind});
  EXPECT_EQ(error, "");
  EXPECT_GE(shown.size(), 5u) << "a question is asked before the answer to the one before is judged";
  for (const std::string& message : shown) EXPECT_EQ(message, "y[3] is 4, not 5");
}

}  // namespace
}  // namespace kerf
