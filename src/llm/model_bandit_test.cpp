#include "llm/model_bandit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kerf::llm {
namespace {

const std::vector<std::string> kModels = {"cheap", "costly"};

/// How often each model is asked in 400 questions, when they gain and cost so much.
std::vector<int> counts(double cheap_gain, double costly_gain, double costly_cost) {
  ModelBandit bandit;
  Rng rng(3);
  std::vector<int> asked(2);
  for (int i = 0; i < 400; ++i) {
    const std::size_t chosen = bandit.choose(kModels, rng);
    ++asked[chosen];
    const double gain = (chosen == 0 ? cheap_gain : costly_gain) * (rng.chance(0.5) ? 2 : 0);
    bandit.observe(kModels[chosen], gain, chosen == 0 ? 1 : costly_cost);
  }
  return asked;
}

TEST(ModelBandit, PrefersTheModelThatGainsMoreForTheSameCost) {
  const auto asked = counts(0.02, 0.2, 1);
  EXPECT_GT(asked[1], 3 * asked[0]);
  EXPECT_GT(asked[0], 0);  // the other is not forgotten
}

TEST(ModelBandit, AnEqualGainForATenthOfTheCostWins) {
  const auto asked = counts(0.1, 0.1, 10);
  EXPECT_GT(asked[0], 3 * asked[1]);
}

TEST(ModelBandit, ACostlyModelIsWorthItsGain) {
  const auto asked = counts(0.01, 0.3, 4);
  EXPECT_GT(asked[1], asked[0]);
}

TEST(ModelBandit, IsDeterministicInItsRandomNumbers) {
  ModelBandit bandit;
  bandit.observe("cheap", 0.1, 1);
  Rng a(5), b(5);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bandit.choose(kModels, a), bandit.choose(kModels, b));
}

}  // namespace
}  // namespace kerf::llm
