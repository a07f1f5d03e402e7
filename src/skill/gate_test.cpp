// The gate against samples whose truth is known.

#include "skill/gate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/file.hpp"
#include "base/rng.hpp"
#include "base/test_paths.hpp"
#include "skill/simulated_writer.hpp"

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
  const GateOptions options{.resamples = 400};
  int admitted = 0, covered = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto evidence = run_gate(kTasks, options, seed, noisy(0.3));
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
  const GateOptions options{.resamples = 400};
  int admitted = 0, named = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto evidence = run_gate(kTasks, options, seed, noisy(0.3, 0.3));
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

/// The numbers behind `key` in a Python dictionary of the text: {"compiles": 0.35, "right": 0.1}.
Abilities numbers_in(const std::string& text, const std::string& key) {
  const auto begin = text.find(key);
  EXPECT_NE(begin, std::string::npos) << key;
  if (begin == std::string::npos) return {};
  const std::string entry = text.substr(begin, text.find('}', begin) - begin);
  const auto number = [&](const std::string& name) {
    const auto at = entry.find("\"" + name + "\": ");
    return at == std::string::npos ? 0 : std::stod(entry.substr(at + name.size() + 4));
  };
  return {number("compiles"), number("right"), number("faster")};
}

TEST(SimulatedWriter, HasTheChancesOfTheOneWithAServer) {
  const auto text = read_file(source_folder() / "tests/llm/writer.py");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(numbers_in(*text, "BASE = {"), writer::kBase);
  EXPECT_EQ(numbers_in(*text, "\"compiler output\": {"), writer::kCompilerOutput);
  EXPECT_EQ(numbers_in(*text, "\"wrong elements\": {"), writer::kWrongElements);
  EXPECT_EQ(numbers_in(*text, "\"experience\": {"), writer::kExperience);
  EXPECT_EQ(numbers_in(*text, "\"skill\": {"), writer::kSkill);
  EXPECT_EQ(numbers_in(*text, "\"good section\": {"), writer::kGoodSection);
  EXPECT_EQ(numbers_in(*text, "\"harmful section\": {"), writer::kHarmfulSection);
}

TEST(GateSimulation, RefusesInertAndHarmfulSkillsAndAdmitsGoodOnes) {
  constexpr int kRepeats = 30;
  GateOptions options;
  options.most = 40;
  options.resamples = 200;
  const Admitted good = admitted(kTasks, Planted::good, kRepeats, options),
                 inert = admitted(kTasks, Planted::inert, kRepeats, options),
                 harmful = admitted(kTasks, Planted::harmful, kRepeats, options);
  RecordProperty("three arms",
                 fmt::format("good {} inert {} harmful {}", good.three_arms, inert.three_arms, harmful.three_arms));
  RecordProperty("one sample",
                 fmt::format("good {} inert {} harmful {}", good.one_sample, inert.one_sample, harmful.one_sample));
  EXPECT_GT(good.three_arms, 0.8 * kRepeats);
  EXPECT_LT(inert.three_arms, 0.1 * kRepeats);
  EXPECT_EQ(harmful.three_arms, 0);
  EXPECT_LT(inert.three_arms, inert.one_sample) << "the gate of the literature admits by chance";
}

}  // namespace
}  // namespace kerf::skill
