// The gate against samples whose truth is known. The second half repeats the chances of tests/llm/writer.py without its
// server: figures from it are a simulation of the learner's environment.

#include "skill/gate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.hpp"

namespace kerf::skill {
namespace {

const std::vector<GateTask> kTasks{{"a", false}, {"b", false}, {"c", false}, {"d", true}};

/// Normal log speedups around 0.5, with what an arm adds.
TakeSample noisy(double with, double placebo = 0, double elsewhere = 0, double noise = 0.1) {
  return [=](const GateTask& task, Arm arm, int, std::uint64_t seed) -> Result<Sample> {
    Rng rng = Rng(seed).fork(arm_name(arm));
    const double effect = task.unrelated        ? (arm == Arm::with ? elsewhere : 0)
                          : arm == Arm::with    ? with
                          : arm == Arm::placebo ? placebo
                                                : 0;
    return Sample{true, 0.5 + effect + noise * rng.normal()};
  };
}

TEST(Gate, AdmitsWhatHelps) {
  int admitted = 0, covered = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto evidence = run_gate(kTasks, {}, seed, noisy(0.3));
    ASSERT_TRUE(evidence) << evidence.error().message;
    admitted += evidence->admitted;
    covered += evidence->low < 0.3 && evidence->high > 0.3;
    if (!evidence->admitted) continue;
    EXPECT_EQ(evidence->samples, 36);
    EXPECT_GT(evidence->low, 0.2);
    EXPECT_EQ(evidence->unrelated, "d");
    EXPECT_EQ(evidence->right_with, 1);
  }
  EXPECT_GE(admitted, 38);
  EXPECT_GE(covered, 32) << "intervals of 90 %";
}

TEST(Gate, RefusesWhatAPlaceboDoesAsWell) {
  int admitted = 0, named = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto evidence = run_gate(kTasks, {}, seed, noisy(0.3, 0.3));
    ASSERT_TRUE(evidence);
    admitted += evidence->admitted;
    named += evidence->reason.find("placebo") != std::string::npos;
  }
  EXPECT_LE(admitted, 5) << "by chance, one in twenty";
  EXPECT_GE(named, 32);
}

TEST(Gate, StopsEarlyWhenItIsClearlyBad) {
  const auto evidence = run_gate(kTasks, {}, 1, noisy(-0.3));
  ASSERT_TRUE(evidence);
  EXPECT_FALSE(evidence->admitted);
  EXPECT_EQ(evidence->samples, 18) << "three tasks, six samples each";
}

TEST(Gate, RefusesHarmElsewhere) {
  const auto evidence = run_gate(kTasks, {}, 1, noisy(0.3, 0, -0.4));
  ASSERT_TRUE(evidence);
  EXPECT_FALSE(evidence->admitted);
  EXPECT_NE(evidence->reason.find("outside of its scope"), std::string::npos) << evidence->reason;
}

TEST(Gate, RefusesFewerRightKernels) {
  const auto take = [](const GateTask&, Arm arm, int repeat, std::uint64_t) -> Result<Sample> {
    // Faster where it is right, and often wrong.
    if (arm == Arm::with) return Sample{repeat % 2 == 0, 2.0};
    return Sample{true, 0.5};
  };
  const auto evidence = run_gate(kTasks, {}, 1, take);
  ASSERT_TRUE(evidence);
  EXPECT_FALSE(evidence->admitted);
  EXPECT_NE(evidence->reason.find("fewer right kernels"), std::string::npos) << evidence->reason;
}

TEST(Gate, ArmsArePairedAndInterleaved) {
  std::vector<std::string> order;
  std::map<std::string, std::uint64_t> seeds;
  const auto take = [&](const GateTask& task, Arm arm, int repeat, std::uint64_t seed) -> Result<Sample> {
    order.push_back(fmt::format("{} {}", task.name, repeat));
    const auto [place, is_new] = seeds.insert({order.back(), seed});
    EXPECT_EQ(place->second, seed) << "the same seed in all arms";
    return Sample{true, arm == Arm::with ? 1.0 : 0.0};
  };
  ASSERT_TRUE(run_gate(kTasks, {}, 1, take));
  for (std::size_t i = 0; i + 2 < order.size(); i += 3) {
    EXPECT_EQ(order[i], order[i + 1]);
    EXPECT_EQ(order[i], order[i + 2]);
  }
}

TEST(Gate, NeedsThreeTasksAndOneOutside) {
  EXPECT_FALSE(run_gate({{"a", false}, {"b", false}, {"d", true}}, {}, 1, noisy(0)));
  EXPECT_FALSE(run_gate({{"a", false}, {"b", false}, {"c", false}}, {}, 1, noisy(0)));
}

TEST(Gate, AnErrorOfASampleEndsIt) {
  const auto evidence = run_gate(kTasks, {}, 1, [](const GateTask&, Arm, int, std::uint64_t) -> Result<Sample> {
    return fail(Errc::unavailable, "no endpoint");
  });
  ASSERT_FALSE(evidence);
  EXPECT_EQ(evidence.error().message, "no endpoint");
}

// ---- a simulation with the chances of tests/llm/writer.py

struct Abilities {
  double compiles = 0.55, right = 0.60, faster = 0.30;
};
enum class Planted { good, inert, harmful };

/// One attempt as a trial with the writer makes them: six answers, each a draft until a kernel has passed and then a
/// refinement of the best; what the judge said of a refused one is shown with the next. Kernels are rungs of a ladder,
/// each 1.5 times as fast as the last, the first as fast as the baseline.
Sample attempt(const Abilities& base, Rng& rng) {
  constexpr int kAnswers = 6, kTop = 4;
  Sample best;
  int rung = -1;
  double more_compiles = 0, more_right = 0;
  for (int answer = 0; answer < kAnswers; ++answer) {
    const bool faster = rng.chance(std::clamp(base.faster, 0.02, 0.98));
    const int next = faster ? std::min(rung + 1, kTop) : static_cast<int>(rng.integer(0, std::max(rung, 0)));
    const bool compiles = rng.chance(std::clamp(base.compiles + more_compiles, 0.02, 0.98));
    const bool right = rng.chance(std::clamp(base.right + more_right, 0.02, 0.98));
    more_compiles = compiles ? 0 : 0.35;
    more_right = compiles && !right ? 0.25 : 0;
    if (!compiles || !right) continue;
    rung = std::max(rung, next);
    best = {true, std::max(best.log_speedup, std::log(1.5) * next + 0.02 * rng.normal())};
  }
  return best;
}

TakeSample writer_arm(Planted kind) {
  return [kind](const GateTask& task, Arm arm, int, std::uint64_t seed) -> Result<Sample> {
    Abilities chances;
    if (arm == Arm::with && kind == Planted::good && !task.unrelated) chances.faster += 0.30;
    if (arm == Arm::with && kind == Planted::harmful) chances.compiles -= 0.30, chances.right -= 0.10;
    Rng rng = Rng(seed).fork(arm_name(arm));
    return attempt(chances, rng);
  };
}

struct Shares {
  double three_arms = 0, one_sample = 0;
};

Shares admitted(Planted kind, int repeats, const GateOptions& options) {
  Shares shares;
  for (int i = 0; i < repeats; ++i) {
    const auto take = writer_arm(kind);
    const auto seed = static_cast<std::uint64_t>(1000 * static_cast<int>(kind) + i);
    shares.three_arms += run_gate(kTasks, options, seed, take)->admitted;
    shares.one_sample += one_sample_gate(take(kTasks[0], Arm::with, 0, mix64(seed)).value(),
                                         take(kTasks[0], Arm::without, 0, mix64(seed)).value());
  }
  return {shares.three_arms / repeats, shares.one_sample / repeats};
}

TEST(GateSimulation, RefusesInertAndHarmfulSkillsAndAdmitsGoodOnes) {
  constexpr int kRepeats = 60;
  GateOptions options;
  options.most = 40;
  options.resamples = 300;
  const Shares good = admitted(Planted::good, kRepeats, options), inert = admitted(Planted::inert, kRepeats, options),
               harmful = admitted(Planted::harmful, kRepeats, options);
  RecordProperty("three arms",
                 fmt::format("good {} inert {} harmful {}", good.three_arms, inert.three_arms, harmful.three_arms));
  RecordProperty("one sample",
                 fmt::format("good {} inert {} harmful {}", good.one_sample, inert.one_sample, harmful.one_sample));
  EXPECT_GT(good.three_arms, 0.8);
  EXPECT_LT(inert.three_arms, 0.1);
  EXPECT_EQ(harmful.three_arms, 0);
  EXPECT_LT(inert.three_arms, inert.one_sample) << "the gate of the literature admits by chance";
}

}  // namespace
}  // namespace kerf::skill
