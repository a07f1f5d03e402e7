#include "archive/archive.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf {
namespace {

Evaluation measured(double ratio, double noise = 0.02) {
  Evaluation evaluation;
  Measurement measurement;
  measurement.speedup = {"naive", ratio, ratio * (1 - noise), ratio * (1 + noise)};
  measurement.shapes.push_back({"default", 1, {10, 9, 11, 5}, {}, {}, std::nullopt});
  evaluation.outcome = measurement;
  return evaluation;
}

Evaluation failed(Outcome outcome) {
  Evaluation evaluation;
  evaluation.outcome = std::move(outcome);
  return evaluation;
}

struct Inserter {
  Archive archive;
  std::int64_t step = 0;

  explicit Inserter(const ArchiveOptions& options = {}) : archive(options) {}
  Decision add(const Evaluation& evaluation, const Cell& cell, const std::vector<std::int64_t>& parents = {}) {
    return archive.insert({++step, parents, evaluation, cell});
  }
};

TEST(Fitness, OrdersOutcomesBeforeSpeed) {
  const std::vector<Evaluation> ladder{failed(Rejected{Gate::static_budget, ""}),
                                       failed(BuildFailed{"", ""}),
                                       failed(Crashed{Gate::small_shape, ""}),
                                       failed(TimedOut{Gate::small_shape, ""}),
                                       failed(WrongResult{Gate::values, "", std::nullopt}),
                                       measured(0.01),
                                       measured(3)};
  for (std::size_t i = 1; i < ladder.size(); ++i) EXPECT_TRUE(fitness_of(ladder[i - 1]) < fitness_of(ladder[i])) << i;
}

TEST(Fitness, ComparesTwoMeasurementsWithTheNoiseOfBoth) {
  const Factor factor = factor_between(fitness_of(measured(4, 0.03)), fitness_of(measured(2, 0.04)));
  EXPECT_NEAR(factor.ratio, 2, 1e-9);
  EXPECT_NEAR(std::log(factor.ratio / factor.low), std::hypot(std::log(1 / 0.97), std::log(1.04)), 1e-9);
  EXPECT_NEAR(std::log(factor.high / factor.ratio), std::hypot(std::log(1.03), std::log(1 / 0.96)), 1e-9);
}

Evaluation compared(std::int64_t compared_with, double its_speedup, double ratio, double noise) {
  Evaluation evaluation = measured(1, 0.3);
  std::get<Measurement>(evaluation.outcome).comparison =
      PairedComparison{compared_with, its_speedup, ratio, ratio * (1 - noise), ratio * (1 + noise)};
  return evaluation;
}

TEST(Fitness, AComparisonStandsForTheSpeedupMeasuredAlone) {
  const Fitness fitness = fitness_of(compared(1, 4, 1.5, 0.01));
  EXPECT_NEAR(fitness.log_speedup, std::log(6), 1e-9);
  EXPECT_NEAR(fitness.below, std::log(1 / 0.99), 1e-9);
  EXPECT_NEAR(fitness.above, std::log(1.01), 1e-9);
}

TEST(Archive, AWinnerOfAComparisonNeedNotExceedTheLosersOwnNoise) {
  Inserter into({1, true});
  into.add(measured(2, 0.2), {0, 0, 0});
  EXPECT_FALSE(into.add(measured(2.1, 0.01), {0, 0, 0}).kept) << "the first one's figure may be 20 % off";
  const Decision won = into.add(compared(1, 2, 1.05, 0.01), {0, 0, 0});
  EXPECT_TRUE(won.kept);
  EXPECT_TRUE(won.new_best);
  EXPECT_EQ(won.replaced, std::vector<std::int64_t>{1});
  EXPECT_FALSE(into.add(compared(3, 2.1, 1.005, 0.01), {0, 0, 0}).kept) << "within the noise of the comparison";
  EXPECT_EQ(into.add(compared(3, 2.1, 0.5, 0.1), {0, 1, 0}).sentence,
            "kept: 0.5 times as fast (0.45 to 0.55) as step 3, timed in turn, the first in cell memory 0, compute 1, "
            "parallelism 0");
}

TEST(Archive, TheBestIsWhatNothingHasBeatenNotTheLargestFigure) {
  Inserter into;
  into.add(measured(2, 0.05), {0, 0, 0});
  EXPECT_FALSE(into.add(measured(2.1, 0.2), {0, 0, 0}).new_best);
  EXPECT_EQ(into.archive.best()->step, 1);
  EXPECT_TRUE(into.add(measured(2.5, 0.01), {1, 0, 0}).new_best);
  EXPECT_EQ(into.archive.best()->step, 3);
  Inserter published({1, false});
  published.add(measured(2, 0.05), {0, 0, 0});
  EXPECT_TRUE(published.add(measured(2.01, 0.2), {0, 0, 0}).new_best);
  EXPECT_EQ(published.archive.best()->step, 2);
}

TEST(Archive, ANewBestIsKeptInACellFullOfUncertainOnes) {
  Inserter into({1, true});
  into.add(measured(2, 0.01), {0, 0, 0});
  into.add(measured(1.9, 0.5), {1, 0, 0});
  const Decision decision = into.add(compared(1, 2, 1.1, 0.01), {1, 0, 0});
  EXPECT_TRUE(decision.new_best);
  EXPECT_TRUE(decision.kept);
  ASSERT_NE(into.archive.best(), nullptr);
  EXPECT_EQ(into.archive.best()->step, 3);
}

TEST(Archive, KeepsTheFirstOfACellAndFillsItsRoom) {
  Inserter into;
  EXPECT_TRUE(into.add(measured(2), {0, 0, 0}).new_cell);
  const Decision slower = into.add(measured(1), {0, 0, 0});
  EXPECT_TRUE(slower.kept);
  EXPECT_FALSE(slower.new_best);
  EXPECT_TRUE(into.add(measured(3), {0, 0, 0}).new_best);
  const auto& members = into.archive.cells().at({0, 0, 0});
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].step, 3);
  EXPECT_EQ(members[1].step, 1);
  EXPECT_EQ(members[2].step, 2);
}

TEST(Archive, ReplacesOnlyBeyondTheNoise) {
  Inserter into({1, true});
  into.add(measured(2.00, 0.05), {0, 0, 0});
  const Decision noise = into.add(measured(2.05, 0.05), {0, 0, 0});
  EXPECT_FALSE(noise.kept);
  EXPECT_NE(noise.sentence.find("within the noise"), std::string::npos) << noise.sentence;
  const Decision clear = into.add(measured(2.4, 0.05), {0, 0, 0});
  EXPECT_TRUE(clear.kept);
  EXPECT_EQ(clear.replaced, std::vector<std::int64_t>{1});
  EXPECT_EQ(into.archive.best()->step, 3);
}

TEST(Archive, PutsOutTheSlowestOfThoseThatAreBeaten) {
  Inserter into;
  for (const double ratio : {3.0, 1.0, 2.0}) into.add(measured(ratio), {1, 1, 1});
  const Decision decision = into.add(measured(2.5), {1, 1, 1});
  EXPECT_EQ(decision.replaced, std::vector<std::int64_t>{2});
  EXPECT_NE(decision.sentence.find("step 2, which it replaces"), std::string::npos) << decision.sentence;
  EXPECT_EQ(into.archive.elites().size(), 3u);
  EXPECT_FALSE(into.add(measured(1.5), {1, 1, 1}).kept);
}

TEST(Archive, ThePublishedRuleTakesAnyLargerNumber) {
  Inserter into({1, false});
  into.add(measured(2.00, 0.5), {0, 0, 0});
  EXPECT_TRUE(into.add(measured(2.01, 0.5), {0, 0, 0}).kept);
}

TEST(Archive, ExplainsEveryFailure) {
  Inserter into;
  const Decision decision =
      into.add(failed(WrongResult{Gate::all_shapes, "y[3] is 1, not 2\nand more", std::nullopt}), {});
  EXPECT_FALSE(decision.kept);
  EXPECT_EQ(decision.sentence, "not kept: wrong result at gate 'all shapes': y[3] is 1, not 2");
  EXPECT_TRUE(into.archive.cells().empty());
  EXPECT_EQ(into.archive.best(), nullptr);
}

TEST(Archive, DoesNotPlaceWhatHasNoCell) {
  Inserter into;
  EXPECT_FALSE(into.add(measured(2), {}).kept);
  EXPECT_EQ(into.archive.best(), nullptr);
}

TEST(Archive, RecordsEveryTransition) {
  Inserter into;
  into.add(measured(2), {0, 0, 0});
  into.add(measured(4), {1, 0, 0}, {1});
  into.add(failed(Crashed{Gate::small_shape, "signal 11"}), {}, {2});
  into.add(measured(1), {1, 0, 0}, {1, 2});
  const auto& transitions = into.archive.transitions();
  ASSERT_EQ(transitions.size(), 4u);
  EXPECT_EQ(transitions[0].parent, 1);
  EXPECT_EQ(transitions[0].from, (Cell{0, 0, 0}));
  EXPECT_EQ(transitions[0].to, (Cell{1, 0, 0}));
  EXPECT_NEAR(transitions[0].gain, std::log(2.0), 1e-9);
  EXPECT_FALSE(transitions[1].measured);
  EXPECT_TRUE(transitions[1].to.empty());
  EXPECT_NEAR(transitions[3].gain, std::log(0.25), 1e-9);
}

TEST(Archive, WhatIsRefutedGivesItsPlaceBack) {
  Inserter into({1, true});
  into.add(measured(2), {0, 0, 0});
  into.add(measured(3), {1, 0, 0});
  into.add(measured(9), {0, 0, 0}, {1});  // puts the first one out
  ASSERT_EQ(into.archive.find(1), nullptr);
  ASSERT_EQ(into.archive.best()->step, 3);
  into.archive.refute(3);
  EXPECT_EQ(into.archive.find(3), nullptr);
  EXPECT_NE(into.archive.find(1), nullptr) << "it was put out by a figure that does not count";
  EXPECT_EQ(into.archive.best()->step, 2);
  ASSERT_EQ(into.archive.transitions().size(), 1u);
  EXPECT_FALSE(into.archive.transitions()[0].measured);
  EXPECT_EQ(into.archive.transitions()[0].gain, 0);
  EXPECT_TRUE(into.add(measured(2.5), {0, 0, 0}, {3}).kept) << "held against the first one";
  EXPECT_FALSE(into.archive.transitions()[1].gain != 0) << "a refuted parent has no figure to gain on";
}

TEST(Archive, IsEmptyWhenAllIsRefuted) {
  Inserter into;
  into.add(measured(2), {0, 0, 0});
  into.archive.refute(1);
  into.archive.refute(1);
  into.archive.refute(7);
  EXPECT_TRUE(into.archive.cells().empty());
  EXPECT_EQ(into.archive.best(), nullptr);
}

TEST(Archive, IsRebuiltByReplaying) {
  Inserter first, second;
  for (Inserter* into : {&first, &second}) {
    std::uint64_t x = 7;
    for (int i = 0; i < 200; ++i) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      const auto level = [&](int shift) { return static_cast<int>((x >> shift) % 4); };
      into->add(measured(1 + static_cast<double>((x >> 20) % 1000) / 100), {level(40), level(45), level(50)});
    }
  }
  const auto a = first.archive.elites(), b = second.archive.elites();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].step, b[i].step);
  for (const auto& [cell, members] : first.archive.cells()) EXPECT_LE(members.size(), 3u);
}

}  // namespace
}  // namespace kerf
