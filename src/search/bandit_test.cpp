#include "search/bandit.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

std::map<std::string, int> draws(const OperationBandit& bandit, const std::vector<std::string>& arms, int count = 400) {
  std::map<std::string, int> chosen;
  for (int i = 0; i < count; ++i) {
    Rng rng = Rng(5).fork("draw " + std::to_string(i));
    ++chosen[arms[bandit.choose(arms, rng)]];
  }
  return chosen;
}

TEST(OperationBandit, TriesEverythingWhileNothingIsKnown) {
  const auto chosen = draws(OperationBandit{}, {"a", "b", "c"});
  for (const char* arm : {"a", "b", "c"}) EXPECT_GT(chosen.at(arm), 60) << arm;
}

TEST(OperationBandit, PrefersWhatGains) {
  OperationBandit bandit;
  for (int i = 0; i < 15; ++i) {
    bandit.observe("good", 0.3, 1);
    bandit.observe("bad", 0, 1);
  }
  const auto chosen = draws(bandit, {"good", "bad"});
  EXPECT_GT(chosen.at("good"), 330);
}

TEST(OperationBandit, CountsWhatAnArmCosts) {
  OperationBandit bandit;
  for (int i = 0; i < 15; ++i) {
    bandit.observe("cheap", 0.2, 1);
    bandit.observe("expensive", 0.2, 10);
  }
  EXPECT_GT(draws(bandit, {"cheap", "expensive"}).at("cheap"), 300);
}

TEST(OperationBandit, ForgetsOldGlory) {
  OperationBandit bandit;
  for (int i = 0; i < 10; ++i) bandit.observe("early", 0.5, 1);
  for (int i = 0; i < 60; ++i) {
    bandit.observe("early", 0, 1);
    bandit.observe("late", 0.1, 1);
  }
  EXPECT_GT(draws(bandit, {"early", "late"}).at("late"), 250);
}

TEST(DirectionBandit, LearnsAcrossCellsAndStaysInRange) {
  DirectionBandit bandit;
  for (int i = 0; i < 20; ++i) {
    bandit.observe({0, 0, 0}, {1, 1}, true);
    for (const int d : {0, 2})
      for (const int s : {0, 1}) bandit.observe({0, 0, 0}, {d, s}, i % 3 == 0 && s == 0);
  }
  int upward = 0;
  for (int i = 0; i < 200; ++i) {
    Rng rng = Rng(1).fork(std::to_string(i));
    const Direction direction = bandit.choose({2, 2, 3}, "", rng);
    EXPECT_FALSE(direction.dimension == 2 && direction.step == 1) << "there is no level 4";
    upward += direction.dimension == 1 && direction.step == 1 ? 1 : 0;
  }
  EXPECT_GT(upward, 40);
}

TEST(DirectionBandit, DoesNotRepeatWhatFailedThreeTimesFromACell) {
  DirectionBandit bandit;
  for (int i = 0; i < 3; ++i) bandit.observe({1, 1, 1}, {0, 1}, false);
  for (int i = 0; i < 300; ++i) {
    Rng rng = Rng(2).fork(std::to_string(i));
    const Direction direction = bandit.choose({1, 1, 1}, "memory", rng);
    EXPECT_FALSE(direction.dimension == 0 && direction.step == 1);
  }
}

TEST(DirectionBandit, ListensToTheProfile) {
  int memory = 0, compute = 0;
  for (int i = 0; i < 400; ++i) {
    Rng a = Rng(3).fork(std::to_string(i)), b = a;
    memory += DirectionBandit{}.choose({1, 1, 1}, "memory", a).dimension == 0 ? 1 : 0;
    compute += DirectionBandit{}.choose({1, 1, 1}, "compute", b).dimension == 0 ? 1 : 0;
  }
  EXPECT_GT(memory, compute + 50);
}

TEST(DrawBeta, HasTheMeanOfTheDistribution) {
  Rng rng(4);
  double sum = 0;
  for (int i = 0; i < 4000; ++i) sum += draw_beta(3, 7, rng);
  EXPECT_NEAR(sum / 4000, 0.3, 0.01);
}

TEST(DirectionText, IsReadBack) {
  EXPECT_EQ(direction_text({0, 1}), "memory+1");
  const auto back = direction_from_text("parallelism-1");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->dimension, 2);
  EXPECT_EQ(back->step, -1);
  EXPECT_FALSE(direction_from_text(""));
}

}  // namespace
}  // namespace kerf
