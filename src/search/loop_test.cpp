#include "search/loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "base/hash.hpp"
#include "search/landscape_fixture.hpp"
#include "search/loop_fixture.hpp"
#include "search/search_state.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

using landscape::Point;

TEST_F(LoopTest, ClimbsToTheSummitAndConfirmsIt) {
  options.evaluations = 150;
  const SearchResult result = run("a");
  ASSERT_EQ(error, "");
  EXPECT_EQ(evaluator.evaluated, 150);
  EXPECT_EQ(evaluator.confirmed, 3);
  const auto all = steps("a");
  EXPECT_EQ(all.size(), 150u + static_cast<std::size_t>(progress.duplicates) + 3u);
  const Step& best = all.at(static_cast<std::size_t>(result.best_step - 1));
  EXPECT_EQ(best.stage, Stage::final);
  EXPECT_GT(landscape::speedup(landscape::point_of(best.genome)), 11.5);
  EXPECT_EQ(result.stopped, "the budget of 150 evaluations is used up");
}

TEST_F(LoopTest, WhatComesNearTheBestIsTimedAgainstIt) {
  evaluator.noise = 0.15;
  options.evaluations = 80;
  const SearchResult result = run("a");
  ASSERT_EQ(error, "");
  const auto all = steps("a");
  int comparisons = 0, finals = 0;
  for (const Step& step : all) {
    const auto* measurement = std::get_if<Measurement>(&step.evaluation.outcome);
    if (measurement == nullptr || !measurement->comparison) continue;
    ++comparisons;
    finals += step.stage == Stage::final ? 1 : 0;
    const PairedComparison& comparison = *measurement->comparison;
    ASSERT_LT(comparison.step, step.number);
    const Step& compared_with = all.at(static_cast<std::size_t>(comparison.step - 1));
    EXPECT_DOUBLE_EQ(comparison.its_speedup, std::exp(fitness_of(compared_with.evaluation).log_speedup))
        << "what the search held it for";
    EXPECT_EQ(compared_with.stage == Stage::final, step.stage == Stage::final) << "finals are on other data";
  }
  EXPECT_EQ(comparisons, evaluator.comparisons);
  EXPECT_GT(comparisons, 5);
  EXPECT_GT(evaluator.long_comparisons, 0) << "what may be better and is not decided";
  EXPECT_EQ(finals, options.finalists - 1);
  // The best by the comparisons is the best there is among what was tried, up to a few hundredths: single figures err
  // by 15
  // %.
  double highest = 0;
  for (const Step& step : all) highest = std::max(highest, landscape::speedup(landscape::point_of(step.genome)));
  const Step& best = all.at(static_cast<std::size_t>(result.best_step - 1));
  EXPECT_GT(landscape::speedup(landscape::point_of(best.genome)), 0.95 * highest);
}

TEST_F(LoopTest, ThePublishedSearchTakesSpeedupsAsTheyCome) {
  evaluator.noise = 0.15;
  options.evaluations = 60;
  options.search = "published";
  run("a");
  ASSERT_EQ(error, "");
  EXPECT_EQ(evaluator.comparisons, 0);
}

TEST_F(LoopTest, AKernelThatFailsInAComparisonIsRefused) {
  evaluator.comparison_outcome = [](const Point& p) -> std::optional<Outcome> {
    if (p.family != 2) return std::nullopt;
    return WrongResult{Gate::values, "another answer this time", std::nullopt};
  };
  options.evaluations = 120;
  run("a");
  ASSERT_EQ(error, "");
  int refused = 0;
  for (const Step& step : steps("a"))
    if (outcome_message(step.evaluation.outcome) == "another answer this time") {
      ++refused;
      EXPECT_FALSE(step.kept) << step.number;
      EXPECT_TRUE(step.cell.empty()) << step.number;
    }
  EXPECT_GT(refused, 0);
}

TEST_F(LoopTest, TriesTheFirstGuessesFirstAndNumbersStepsWithoutGaps) {
  options.evaluations = 20;
  run("a");
  const auto all = steps("a");
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].number, static_cast<std::int64_t>(i) + 1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].stage, Stage::start);
  EXPECT_EQ(all[3].stage, Stage::search);
  EXPECT_EQ(all.back().stage, Stage::final);
}

TEST_F(LoopTest, EvaluatesNoProgramTwice) {
  options.evaluations = 200;
  run("a");
  for (const auto& [genome, count] : evaluator.times) EXPECT_EQ(count, 1) << genome;
}

TEST_F(LoopTest, RecordsButDoesNotEvaluateKnownCode) {
  evaluator.code = [](const Point& p) { return landscape::genome_of({p.x / 2, p.y / 2, p.family}); };
  options.evaluations = 80;
  run("a");
  std::set<std::string> codes;
  int duplicates = 0;
  for (const Step& step : steps("a")) {
    if (step.stage == Stage::final) continue;
    const Point p = landscape::point_of(step.genome);
    const bool fresh = codes.insert(evaluator.code(p)).second;
    EXPECT_EQ(is_duplicate(step), !fresh) << step.number;
    if (!fresh) {
      ++duplicates;
      EXPECT_NE(step.decision.find("the compiled code is that of step"), std::string::npos) << step.decision;
    }
  }
  EXPECT_GT(duplicates, 0);
  EXPECT_EQ(evaluator.evaluated, 80);
  EXPECT_EQ(progress.duplicates, duplicates);
}

TEST_F(LoopTest, GoesOnAfterAnInterruptionAsIfNothingHadHappened) {
  options.evaluations = 40;
  run("whole");
  const auto whole = steps("whole");
  for (int sittings = 0; sittings < 100; ++sittings) {
    interrupted = false;
    int left = 1 + sittings % 4;
    evaluator.before = [&] {
      if (--left <= 0) interrupted = true;
    };
    const SearchResult result = run("pieces");
    ASSERT_EQ(error, "");
    if (!result.interrupted) break;
    EXPECT_EQ(result.stopped, "interrupted");
  }
  const auto pieces = steps("pieces");
  ASSERT_EQ(pieces.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(pieces[i].source, whole[i].source) << i;
    EXPECT_EQ(pieces[i].operation, whole[i].operation) << i;
    EXPECT_EQ(pieces[i].parents, whole[i].parents) << i;
    EXPECT_EQ(pieces[i].decision, whole[i].decision) << i;
    EXPECT_EQ(pieces[i].direction, whole[i].direction) << i;
  }
}

TEST_F(LoopTest, DoesNotBlameACandidateForAnInterrupt) {
  options.evaluations = 10;
  evaluator.before = [&] { interrupted = true; };
  evaluator.outcome = [](const Point&) -> std::optional<Outcome> { return Crashed{Gate::small_shape, "signal 2"}; };
  const SearchResult result = run("a");
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(steps("a").empty());
}

TEST_F(LoopTest, StopsWhenNothingImproves) {
  options.evaluations = 0;
  options.patience = 25;
  const SearchResult result = run("a");
  EXPECT_EQ(result.stopped, "no improvement in 25 evaluations");
  EXPECT_EQ(progress.since_improvement, 25);
}

TEST_F(LoopTest, StopsWhenTheTimeIsUp) {
  options.evaluations = 0;
  options.seconds = 12;
  const SearchResult result = run("a");
  EXPECT_EQ(result.stopped, "the budget of 12 s is used up");
  EXPECT_EQ(evaluator.evaluated, 11);
  EXPECT_EQ(evaluator.careful, 1) << "the first one takes a second more";
  options.seconds = 15;
  run("a");
  EXPECT_EQ(evaluator.evaluated, 11) << "the three confirmations used the time up";
  options.seconds = 18;
  run("a");
  EXPECT_EQ(evaluator.evaluated, 14);
}

TEST_F(LoopTest, OneKernelOfAMindThatAnswersAtOnceIsJudgedWhateverTheTime) {
  class LatePreparation final : public Proposer {
   public:
    LatePreparation(FakeClock& clock, int at_once) : clock_(clock), at_once_(at_once) {}
    std::string_view name() const override { return "late"; }
    std::vector<OperationInfo> operations() const override { return {{"start"}}; }
    int questions_at_once() const override { return at_once_; }
    Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
      clock_.advance(std::chrono::seconds(10));
      const int at = static_cast<int>(request.start_number);
      return std::optional(
          Proposal{"family0", landscape::kernel({at, 1, 0}).source, fmt::format("{} 1 0", at), {}, ""});
    }

   private:
    FakeClock& clock_;
    int at_once_;
  };
  options.evaluations = 0;
  options.seconds = 3;
  LatePreparation prompt(clock, 0), slow(clock, 1);
  EXPECT_EQ(run_with("prompt", {&prompt}).stopped, "the budget of 3 s is used up");
  EXPECT_EQ(evaluator.evaluated, 1);
  evaluator.evaluated = 0;
  EXPECT_EQ(run_with("slow", {&slow}).stopped, "the budget of 3 s is used up");
  EXPECT_EQ(evaluator.evaluated, 0) << "nobody knows when such a mind will answer";
}

TEST_F(LoopTest, StopsNearTheFloor) {
  options.evaluations = 0;
  evaluator.floor_us = 100 / 6.4;  // a speedup of 6.4 is the speed of light
  const SearchResult result = run("a");
  EXPECT_EQ(result.stopped, "the best kernel reaches 97 % of the speed of light");
}

TEST_F(LoopTest, StopsWhenTheSpaceIsExhausted) {
  class OneKernel final : public Proposer {
   public:
    std::string_view name() const override { return "one"; }
    std::vector<OperationInfo> operations() const override { return {{"start"}, {"parameter", true}}; }
    Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
      if (request.operation == "start" && request.start_number > 0) return std::optional<Proposal>{};
      return std::optional(Proposal{"family0", landscape::kernel({1, 1, 0}).source, "1 1 0", {}, ""});
    }
  } one;
  const SearchResult result = run_with("one", {&one});
  ASSERT_EQ(error, "");
  EXPECT_EQ(result.stopped, "nothing new is left to try");
  EXPECT_EQ(evaluator.evaluated, 1);
}

TEST_F(LoopTest, LetsTheFinalMeasurementDecide) {
  // While searching, one point looks far better than it is; timed in turn, the finalists can be told apart.
  evaluator.noise = 0.3;
  evaluator.comparison_noise = 0;
  options.evaluations = 60;
  const SearchResult result = run("a");
  const auto all = steps("a");
  double best = 0;
  for (const Step& step : all)
    if (step.stage == Stage::final) best = std::max(best, fitness_of(step.evaluation).log_speedup);
  const Step& chosen = all.at(static_cast<std::size_t>(result.best_step - 1));
  EXPECT_EQ(chosen.stage, Stage::final);
  EXPECT_EQ(fitness_of(chosen.evaluation).log_speedup, best);
}

TEST_F(LoopTest, AFigureThatMayBeLuckKeepsNobodyFromBeingMeasuredAgain) {
  evaluator.noise = evaluator.comparison_noise =
      1;  // the first of the finalists seems many times as fast as the others
  options.evaluations = 20;
  for (int seed = 1; seed <= 8; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    evaluator.confirmed = 0;
    run(std::to_string(seed));
    EXPECT_GE(evaluator.confirmed, options.finalists) << seed;
  }
}

TEST_F(LoopTest, AFinalistWithinTheNoiseDoesNotTakeThePlaceOfTheBest) {
  // Timed in turn, the finalists cannot be told apart.
  evaluator.comparison_noise = 0.5;
  options.evaluations = 60;
  int ahead = 0;  // finalists whose figure is larger than the first one's
  for (int seed = 1; seed <= 8; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    const std::string name = std::to_string(seed);
    const SearchResult result = run(name);
    const auto all = steps(name);
    const auto first =
        std::find_if(all.begin(), all.end(), [](const Step& step) { return step.stage == Stage::final; });
    ASSERT_NE(first, all.end());
    const bool undecided = std::all_of(first + 1, all.end(), [](const Step& step) {
      const auto& comparison = std::get<Measurement>(step.evaluation.outcome).comparison;
      return comparison && comparison->low <= 1;
    });
    if (!undecided) continue;
    EXPECT_EQ(result.best_step, first->number);
    for (auto step = first + 1; step != all.end(); ++step) {
      ahead += fitness_of(first->evaluation) < fitness_of(step->evaluation) ? 1 : 0;
      EXPECT_NE(step->decision.find("as step " + std::to_string(first->number)), std::string::npos) << step->decision;
    }
  }
  EXPECT_GT(ahead, 0) << "none of the seeds put it to the test";
}

TEST_F(LoopTest, SurvivesARunWithoutAnythingThatWorks) {
  evaluator.outcome = [](const Point&) -> std::optional<Outcome> {
    return WrongResult{Gate::all_shapes, "zeros", std::nullopt};
  };
  options.evaluations = 15;
  const SearchResult result = run("a");
  EXPECT_EQ(result.best_step, 0);
  EXPECT_EQ(progress.failures, 15);
  EXPECT_EQ(evaluator.confirmed, 0);
}

TEST_F(LoopTest, KeepsWhatItHasWhenTheEnvironmentFails) {
  options.evaluations = 12;
  evaluator.before = [&] {
    if (evaluator.evaluated == 5) evaluator.failure = "the device is gone";
  };
  run("a");
  EXPECT_EQ(error, "the device is gone");
  EXPECT_EQ(steps("a").size(), 5u);
  evaluator.before = nullptr;
  evaluator.failure.reset();
  run("a");
  EXPECT_EQ(error, "");
  EXPECT_EQ(evaluator.evaluated, 12);
}

TEST_F(LoopTest, CompilesSeveralProposalsSideBySide) {
  options.evaluations = 22;
  options.at_once = 4;
  run("a");
  EXPECT_EQ(evaluator.evaluated, 22);
  EXPECT_GE(evaluator.inspected, 20);
}

TEST_F(LoopTest, TunesTheBestKernelOnTheWay) {
  options.evaluations = 80;
  options.tunings = 2;
  run("a");
  EXPECT_GT(evaluator.trials_timed, 15);
  int timings = 0, verdicts = 0;
  for (const Step& step : steps("a")) {
    if (step.operation != kTrialOperation) {
      EXPECT_EQ(step.evaluation.candidate_id, sha256_hex(step.source)) << "step " << step.number;
    }
    if (step.stage != Stage::tune) continue;
    (step.operation == kTrialOperation ? timings : verdicts) += 1;
    EXPECT_EQ(step.parents.size(), 1u);
    if (step.operation == kTrialOperation) {
      EXPECT_TRUE(step.cell.empty()) << "a quick timing is no verdict";
    }
  }
  EXPECT_EQ(timings, evaluator.trials_timed);
  EXPECT_EQ(verdicts, 2);
  EXPECT_EQ(progress.evaluations, 80) << "quick timings count";
}

TEST_F(LoopTest, TuningEndsBeforeTheTimeDoes) {
  options.evaluations = 0;
  options.seconds = 30;
  options.tunings = 1;
  evaluator.before = [&] { clock.advance(std::chrono::seconds(1)); };
  run("a");
  EXPECT_GT(evaluator.trials_timed, 3);
  EXPECT_LT(evaluator.trials_timed, 25) << "a quick timing takes a second";
}

TEST_F(LoopTest, EndsATuningThatWasInterrupted) {
  options.evaluations = 60;
  options.tunings = 1;
  evaluator.before = [&] {
    if (evaluator.trials_timed == 5) interrupted = true;
  };
  EXPECT_TRUE(run("a").interrupted);
  const auto before = steps("a");
  ASSERT_EQ(before.back().operation, kTrialOperation);
  interrupted = false;
  evaluator.before = nullptr;
  const int looked = evaluator.trials_timed;
  EXPECT_FALSE(run("a").interrupted);
  EXPECT_EQ(evaluator.trials_timed, looked) << "no quick timing is repeated";
  const auto after = steps("a");
  const Step& next = after.at(before.size());
  EXPECT_EQ(next.stage, Stage::tune);
  EXPECT_EQ(next.operation, "tune");
}

TEST_F(LoopTest, MeasuresLongerWhereTheFiguresLeaveItOpen) {
  evaluator.noise = 0.2;
  options.evaluations = 60;
  run("a");
  EXPECT_GT(evaluator.careful, 3);
  EXPECT_LT(evaluator.careful, 55);
}

TEST_F(LoopTest, ARecordedRunCanBeFollowedOnOtherTimings) {
  options.evaluations = 60;
  options.tunings = 1;
  run("recorded");
  const auto recorded = steps("recorded");
  evaluator.noise = 0.4;  // other figures, so other decisions if they were free
  evaluator.comparison_noise = 0.3;
  run("free");
  follow = &recorded;
  const SearchResult result = run("followed");
  ASSERT_EQ(error, "");
  EXPECT_EQ(result.stopped, "the recorded run ends here");
  EXPECT_TRUE(notes.empty()) << notes.front();
  const auto sources = [](const std::vector<Step>& all) {
    std::vector<std::string> list;
    for (const Step& step : all)
      if (!is_trial(step) && !is_confirmation(step)) list.push_back(step.operation + step.source);
    return list;
  };
  EXPECT_EQ(sources(steps("followed")), sources(recorded));
  EXPECT_NE(sources(steps("free")), sources(recorded)) << "the test would prove nothing";
}

TEST_F(LoopTest, ARunThatWasResumedIsFollowedWithItsReferencesToOtherSteps) {
  options.evaluations = 8;
  run("recorded");
  options.evaluations = 16;  // behind the finalists of the first part
  run("recorded");
  const auto recorded = steps("recorded");
  follow = &recorded;
  run("followed");
  ASSERT_EQ(error, "");
  const auto followed = steps("followed");
  int looked_at = 0;
  for (const Step& step : followed) {
    if (step.asked.parent) {
      ASSERT_LT(*step.asked.parent, step.number);
      const Step& parent = followed[static_cast<std::size_t>(*step.asked.parent) - 1];
      EXPECT_FALSE(step.parents.empty());
      EXPECT_EQ(parent.source, followed[static_cast<std::size_t>(step.parents.front()) - 1].source);
      ++looked_at;
    }
    for (const auto* list : {&step.asked.inspirations, &step.asked.failures})
      for (const std::int64_t other : *list) EXPECT_LT(other, step.number);
  }
  EXPECT_GT(looked_at, 2);
}

TEST_F(LoopTest, SaysWhereAMindNowAnswersOtherwise) {
  options.evaluations = 10;
  run("recorded");
  auto recorded = steps("recorded");
  recorded[4].asked.seed += 1;
  recorded[4].operation = "restart";
  follow = &recorded;
  run("followed");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front(), "step 5: the scripted mind now writes another kernel; the recorded kernel is taken");
  EXPECT_EQ(steps("followed")[4].source, recorded[4].source);
}

TEST_F(LoopTest, OffersTheNaiveKernelWhenNothingBeatsIt) {
  evaluator.scale = 0.05;  // the summit is at 0.6
  fallbacks = {point_proposal({15, 6, 2})};
  fallbacks[0].name = "family2";
  options.evaluations = 12;
  const SearchResult result = run("a");
  ASSERT_EQ(error, "");
  EXPECT_FALSE(result.beats_baseline);
  EXPECT_EQ(result.progress.evaluations, 12) << "the naive kernel is tried beyond the budget";
  const auto all = steps("a");
  EXPECT_EQ(std::ranges::count_if(all, [](const Step& s) { return s.proposer == "baseline"; }), 2)
      << "once in the search, once among the finalists";
  EXPECT_EQ(all.at(static_cast<std::size_t>(result.best_step - 1)).proposer, "baseline");
  evaluator.scale = 1;
  EXPECT_TRUE(run("b").beats_baseline);
  EXPECT_EQ(std::ranges::count_if(steps("b"), [](const Step& s) { return s.proposer == "baseline"; }), 0);
}

TEST_F(LoopTest, OffersTheNaiveKernelWhenTheFinalistsFallShort) {
  fallbacks = {point_proposal({15, 6, 2})};
  fallbacks[0].name = "family2";
  options.evaluations = 6;
  evaluator.before = [&] {  // the machine calms down: what the search saw was luck
    if (evaluator.evaluated >= options.evaluations) evaluator.scale = 0.05;
  };
  const SearchResult result = run("a");
  ASSERT_EQ(error, "");
  EXPECT_FALSE(result.beats_baseline);
  const auto all = steps("a");
  EXPECT_EQ(std::ranges::count_if(all, [](const Step& s) { return s.proposer == "baseline"; }), 2)
      << "once judged, once beside the finalists";
  EXPECT_EQ(all.at(static_cast<std::size_t>(result.best_step - 1)).proposer, "baseline");
}

TEST_F(LoopTest, AFinalistThatIsRefusedIsNotTheWinnerWhateverItMeasuredBefore) {
  options.evaluations = 40;
  evaluator.outcome = [&](const Point&) -> std::optional<Outcome> {
    if (evaluator.confirmed != 1 || evaluator.evaluated < 40) return std::nullopt;
    return WrongResult{Gate::soak, "wrong now and then", std::nullopt};
  };
  const SearchResult result = run("a");
  ASSERT_EQ(error, "");
  const auto all = steps("a");
  const auto refuted = refuted_steps(all);
  ASSERT_EQ(refuted.size(), 1u);
  ASSERT_GT(result.best_step, 0);
  const Step& best = all.at(static_cast<std::size_t>(result.best_step - 1));
  EXPECT_TRUE(is_confirmation(best));
  EXPECT_TRUE(std::holds_alternative<Measurement>(best.evaluation.outcome));
  EXPECT_FALSE(refuted.contains(best.parents.front()));
  EXPECT_EQ(evaluator.confirmed, 1 + options.finalists) << "others take its place";
}

TEST_F(LoopTest, WhereNoFinalistStandsThereIsNoWinner) {
  options.evaluations = 12;
  evaluator.outcome = [&](const Point&) -> std::optional<Outcome> {
    if (evaluator.confirmed == 0) return std::nullopt;
    return WrongResult{Gate::soak, "wrong now and then", std::nullopt};
  };
  const SearchResult result = run("a");
  ASSERT_EQ(error, "");
  EXPECT_EQ(result.best_step, 0);
  EXPECT_FALSE(result.beats_baseline);
}

TEST_F(LoopTest, BuildingSideBySideKeepsTheOrderOfDecisions) {
  options.evaluations = 40;
  options.at_once = 4;
  run("a");
  run("b");
  const auto a = steps("a"), b = steps("b");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].source, b[i].source) << i;
}

TEST_F(LoopTest, AStepThatCannotBeStoredEndsTheRun) {
  options.evaluations = 20;
  evaluator.before = [&] {
    if (evaluator.evaluated == 4) stores["a"].failure = "the disk is full";
  };
  run("a");
  EXPECT_EQ(error, "the disk is full");
  EXPECT_EQ(steps("a").size(), 4u);
}

TEST_F(LoopTest, RandomSearchOnlyRestarts) {
  options.search = "random";
  options.evaluations = 15;
  run("a");
  for (const std::string& operation : proposer.asked) EXPECT_EQ(operation, "restart");
}

TEST_F(LoopTest, AUsersKernelsAreJudgedFirstByEverySearch) {
  class Given final : public Proposer {
   public:
    std::string_view name() const override { return "given"; }
    std::vector<OperationInfo> operations() const override { return {{.name = kStartOperation, .given = true}}; }
    Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
      if (request.start_number >= 3) return std::optional<Proposal>{};
      const Candidate mine = landscape::kernel({0, static_cast<int>(request.start_number), 1});
      return std::optional(Proposal{mine.name, mine.source, "", {}, ""});
    }
  } given;
  options.evaluations = 10;
  options.starts = 1;
  for (const std::string search : {"kerf", "published", "random"}) {
    options.search = search;
    run_with(search, {&given, &proposer});
    const auto all = steps(search);
    ASSERT_GE(all.size(), 4u) << search << " " << error;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].proposer, "given") << search << " step " << i;
    EXPECT_NE(all[3].proposer, "given") << search;
  }
}

TEST_F(LoopTest, RefusesAnUnknownSearch) {
  options.search = "randon";
  run("a");
  EXPECT_NE(error.find("did you mean 'random'?"), std::string::npos) << error;
}

TEST_F(LoopTest, BeatsRandomSearchAtEqualBudget) {
  std::map<std::string, double> reached;
  evaluator.width = 3;  // on broad summits 60 random points do as well as any search
  options.evaluations = 60;
  options.finalists = 1;
  for (const std::string search : {"kerf", "published", "random"}) {
    options.search = search;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      options.seed = seed;
      evaluator.times.clear();
      const SearchResult result = run(search + std::to_string(seed));
      reached[search] += std::log(result.progress.best->ratio) / 60;
    }
  }
  RecordProperty("kerf", std::to_string(std::exp(reached["kerf"])));
  EXPECT_GT(reached["kerf"], reached["random"] + 0.02)
      << "kerf " << std::exp(reached["kerf"]) << ", published " << std::exp(reached["published"]) << ", random "
      << std::exp(reached["random"]);
  EXPECT_GT(reached["kerf"], reached["published"]);
}

}  // namespace
}  // namespace kerf
