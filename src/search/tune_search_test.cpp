#include "search/tune_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "search/tune_model.hpp"

namespace kerf {
namespace {

TuneSpace space_of(const std::string& header) {
  const auto candidate = parse_candidate("k.cpp", "/* kerf\n" + header + "*/\n");
  return TuneSpace::make(candidate.value(), {{"s", {{"n", 64}}, 1, {}}}, {}).value();
}

const char* kBlocked =
    "tune: BM = {16, 32, 64, 128}\ntune: BN = {16, 32, 64, 128}\ntune: BK = {8, 16, 32}\n"
    "tune: U = {1, 2, 4, 8}\nrequire: BM * BN <= 8192\n";

/// As the time of a blocked kernel goes: the tiles want to be large but fit the cache, unrolling saturates.
double blocked_us(const Bindings& at) {
  const double m = static_cast<double>(at.at("BM")), n = static_cast<double>(at.at("BN")),
               k = static_cast<double>(at.at("BK"));
  const double cache = (m * k + k * n + m * n) / 6000.0;
  return 100 * (1 + 16 / m + 24 / n + 3 / k) * (1 + std::pow(std::max(0.0, cache - 0.8), 2)) *
         (1 + 0.4 / static_cast<double>(at.at("U")) + 0.02 * static_cast<double>(at.at("U")));
}

struct Replay {
  TuneSearchResult result;
  int timings = 0;
  std::set<TunePoint> tuples;
};

Replay replay(const TuneSpace& space, const TuneSearchOptions& options, double noise,
              const std::function<std::optional<double>(const Bindings&)>& time_us) {
  Replay run;
  Rng rng = Rng(options.seed).fork("noise");
  std::map<TunePoint, std::pair<double, double>> pooled;  // sum and weight
  TuneSearchHooks hooks;
  hooks.time = [&](const TunePoint& point, int rounds) -> Result<std::optional<TuneEstimate>> {
    EXPECT_TRUE(space.allowed(point));
    ++run.timings;
    run.tuples.insert(point);
    const auto us = time_us(space.bindings(point));
    if (!us) return std::optional<TuneEstimate>{};
    auto& [sum, weight] = pooled[point];
    sum += rounds * (std::log(*us) + noise * rng.normal() / std::sqrt(rounds));
    weight += rounds;
    return std::optional<TuneEstimate>({sum / weight, noise / std::sqrt(weight)});
  };
  hooks.go_on = [] { return true; };
  hooks.soon = [](const std::vector<TunePoint>&) {};
  run.result = tune_search(space, options, hooks).value();
  return run;
}

/// How much slower the tuples are that a fifth of the evaluations finds, worst first.
std::vector<double> losses(const TuneSpace& space, const std::function<double(const Bindings&)>& time_us) {
  const auto all = *space.enumerate(1e6);
  const int budget = static_cast<int>(all.size()) / 5;
  double best = 1e30;
  for (const auto& point : all) best = std::min(best, time_us(space.bindings(point)));
  std::vector<double> result;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Replay found = replay(space, {budget, seed, 3}, 0.01, time_us);
    EXPECT_LE(found.timings, budget);
    result.push_back(time_us(space.bindings(found.result.ranking.front().first)) / best);
  }
  std::sort(result.rbegin(), result.rend());
  return result;
}

TEST(TuneSearch, FindsAPointCloseToTheBestWithAFifthOfTheEvaluations) {
  const auto blocked = losses(space_of(kBlocked), blocked_us);  // three tuples of 180 are within 4 %
  EXPECT_LE(blocked[20], 1.04) << "every second time";
  EXPECT_LE(blocked[2], 1.09);
  const auto rough = losses(
      space_of("tune: A = {1, 2, 3, 4, 5, 6}\ntune: B = {1, 2, 3, 4, 5}\ntune: C = {0, 1}\ntune: D = {1, 2, 3}\n"),
      [](const Bindings& at) {
        const auto a = static_cast<double>(at.at("A")), b = static_cast<double>(at.at("B"));
        const auto c = static_cast<double>(at.at("C")), d = static_cast<double>(at.at("D"));
        return 50 + 10 * std::fabs(a - 4) + 7 * std::fabs(b - a / 2 - 1) + (c > 0 ? 8 * (d - 2) * (d - 2) : 12) +
               6 * std::sin(a * 7 + b * 3 + d * 5);
      });
  EXPECT_LE(rough[2], 1.02) << "38 of 40 times the best of 180 tuples";
}

TEST(TuneSearch, ASeedReplaysTheSameLooks) {
  const TuneSpace space = space_of(kBlocked);
  const Replay a = replay(space, {25, 7, 3}, 0.01, blocked_us), b = replay(space, {25, 7, 3}, 0.01, blocked_us);
  EXPECT_EQ(a.tuples, b.tuples);
  EXPECT_EQ(a.result.ranking.front().first, b.result.ranking.front().first);
  EXPECT_NE(a.tuples, replay(space, {25, 8, 3}, 0.01, blocked_us).tuples);
}

TEST(TuneSearch, StaysWithinItsBudgetAndLooksAtTheDefaultsFirst) {
  const TuneSpace space = space_of(kBlocked);
  for (const int budget : {1, 2, 3, 5, 9, 30}) {
    const Replay found = replay(space, {budget, 3, 3}, 0.01, blocked_us);
    EXPECT_EQ(found.timings, budget);
    EXPECT_EQ(found.result.timings, budget);
    EXPECT_EQ(found.tuples.count(space.defaults()), 1U);
  }
}

TEST(TuneSearch, AvoidsRefusedTuplesAndSurvivesWhenAllAre) {
  const TuneSpace space = space_of(kBlocked);
  const auto half = [](const Bindings& at) -> std::optional<double> {
    if (at.at("BM") > 32) return std::nullopt;
    return blocked_us(at);
  };
  const Replay found = replay(space, {36, 5, 3}, 0.0, half);
  int refused = 0;
  for (const auto& point : found.tuples) refused += space.bindings(point).at("BM") > 32 ? 1 : 0;
  EXPECT_LE(refused, 15) << "half of the space is refused";
  EXPECT_LE(space.bindings(found.result.ranking.front().first).at("BM"), 32);
  EXPECT_TRUE(replay(space, {10, 5, 3}, 0, [](const Bindings&) { return std::nullopt; }).result.ranking.empty());
}

TEST(TuneSearch, ASpaceSmallerThanTheBudgetIsSeenWhole) {
  const TuneSpace space = space_of("tune: A = {1, 2, 3}\ntune: B = {1, 2}\n");
  const Replay found = replay(space, {50, 1, 3}, 0.0,
                              [](const Bindings& at) { return 10.0 + static_cast<double>(at.at("A") * at.at("B")); });
  EXPECT_TRUE(found.result.complete);
  EXPECT_EQ(found.tuples.size(), 6U);
  EXPECT_LT(found.timings, 30) << "nothing is gained by timing for ever";
  EXPECT_EQ(space.bindings(found.result.ranking.front().first), (Bindings{{"A", 1}, {"B", 1}}));
}

TEST(TuneSearch, AnEmptySpaceIsNeverLookedAt) {
  const Replay found =
      replay(space_of("tune: A = {1, 2, 3}\nrequire: A > 5\n"), {10, 1, 3}, 0.0, [](const Bindings&) { return 1.0; });
  EXPECT_EQ(found.timings, 0);
  EXPECT_TRUE(found.result.ranking.empty());
}

TEST(TuneSearch, RepeatedLooksDecideBetweenNearlyEqualTuples) {
  const TuneSpace space = space_of("tune: A = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}\n");
  const auto time = [](const Bindings& at) { return at.at("A") == 7 ? 95.0 : 100.0; };
  int right = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    right += replay(space, {16, seed, 3}, 0.04, time).result.ranking.front().first == TunePoint{6} ? 1 : 0;
  EXPECT_GE(right, 22);
}

TEST(TuneModel, InterpolatesWhatItHasSeenAndIsUnsureElsewhere) {
  const TuneModel model({9}, {{{0}, 1.0, 0.001}, {{4}, 0.0, 0.001}, {{8}, 1.0, 0.001}});
  EXPECT_NEAR(model.guess({4}).mean, 0.0, 0.05);
  EXPECT_NEAR(model.guess({8}).mean, 1.0, 0.05);
  EXPECT_LT(model.guess({4}).deviation, model.guess({2}).deviation);
  EXPECT_GT(model.guess({2}).mean, 0.1);
  EXPECT_LT(model.guess({2}).mean, 0.9);
  EXPECT_GT(TuneModel::expected_gain({0.5, 0.5}, 0.4), TuneModel::expected_gain({0.5, 0.1}, 0.4));
}

TEST(TuneModel, WithItsOwnScalesItIsTheSameModel) {
  const std::vector<TuneModel::Seen> seen{
      {{0, 0}, 1.0, 0.01}, {{4, 1}, 0.0, 0.01}, {{8, 0}, 0.7, 0.01}, {{2, 1}, 0.4, 0.01}};
  const TuneModel chosen({9, 2}, seen), given({9, 2}, seen, chosen.scales());
  EXPECT_EQ(given.scales(), chosen.scales());
  EXPECT_EQ(given.lowest_mean(), chosen.lowest_mean());
  EXPECT_EQ(given.guess({6, 1}).mean, chosen.guess({6, 1}).mean);
  EXPECT_EQ(given.guess({6, 1}).deviation, chosen.guess({6, 1}).deviation);
  EXPECT_NE(TuneModel({9, 2}, seen, {0.2, 0.2}).guess({6, 1}).mean, chosen.guess({6, 1}).mean);
}

}  // namespace
}  // namespace kerf
