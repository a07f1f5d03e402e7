#include "run/skill_recheck.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/expression/expression.hpp"
#include "skill/fake_skill_store.hpp"

namespace kerf {
namespace {

using skill::Evidence;
using skill::Skill;

TaskText recheck_task(const std::string& name, const std::string& expression) {
  TaskText text;
  text.task.name = name;
  text.task.inputs = {*ir::parse_tensor_type("x", "f32[n, n]")};
  text.task.shapes = {{"default", {{"n", 64}}, 1, {}}};
  text.task.graph =
      ir::parse_expression("y = " + expression, text.task.inputs, {"y"}, {text.task.shapes[0].symbols}).value();
  return text;
}

std::vector<TaskText> recheck_tasks() {
  return {recheck_task("a", "softmax(x)"), recheck_task("b", "sum(x, axis=-1)"), recheck_task("c", "max(x, axis=-1)"),
          recheck_task("d", "exp(x)")};
}

Evidence trial_with(double effect, double half, std::int64_t when) {
  Evidence one;
  one.admitted = effect - half > 0;
  one.reason = "r";
  one.samples = 36;
  one.effect = one.over_placebo = effect;
  one.low = one.placebo_low = effect - half;
  one.high = one.placebo_high = effect + half;
  one.target = "cpu";
  one.mind = kBuiltinMind;
  one.recorded_ms = when;
  return one;
}

Skill verified_skill(const std::string& name, std::int64_t when) {
  Skill one;
  one.name = name;
  one.description = "d";
  one.key_idea = "idea of " + name;
  one.scope = {{"cpu"}, {"reduce"}};
  one.hints = {{{}, "row", "rows", {}}};
  one.state = skill::State::verified;
  one.evidence = {trial_with(0.2, 0.05, when)};
  one.id = skill_id(one);
  return one;
}

RunConfig recheck_config() {
  RunConfig config;
  config.target = "cpu";
  config.search.seed = 1;
  return config;
}

TEST(SkillRecheck, TheLeastRecentlyTriedComesFirst) {
  Skill candidate = verified_skill("candidate", 1), model = verified_skill("model", 1);
  candidate.state = skill::State::candidate;
  model.evidence[0].mind = "llm, m";
  Skill elsewhere = verified_skill("elsewhere", 1);
  elsewhere.evidence[0].target = "opencl";
  const auto due = skills_to_recheck(
      {verified_skill("young", 9), candidate, verified_skill("old", 2), model, elsewhere}, "cpu", MindConfig{});
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].name, "old");
  EXPECT_EQ(due[1].name, "young");
}

TEST(SkillRecheck, ATrialIsOnTheTaskASkillComesFromOnlyWhereNoOtherIsLeft) {
  Skill one = verified_skill("one", 1);
  one.origin = "run r on a";
  std::vector<TaskText> known = recheck_tasks();
  EXPECT_EQ(choose_trial_tasks(one, "cpu", known, 3).value().tasks.back().task.name, "a");
  known.push_back(recheck_task("e", "mean(x, axis=-1)"));
  const auto others = choose_trial_tasks(one, "cpu", known, 3);
  ASSERT_TRUE(others) << others.error().message;
  for (const TaskText& task : others->tasks) EXPECT_NE(task.task.name, "a");
}

TEST(SkillRecheck, WhatHoldsStaysAndWhatDoesNotIsRetired) {
  for (const bool helps : {true, false}) {
    FakeSkillStore store;
    ASSERT_TRUE(store.change({verified_skill("old", 2), verified_skill("young", 9)}, {}));
    std::vector<std::string> tried;
    const auto result = recheck_skills(store, recheck_config(), recheck_tasks(), 800, "folder",
                                       [&](const SkillTrial& trial) -> Result<Evidence> {
                                         tried.push_back(trial.skill.name);
                                         EXPECT_EQ(trial.tasks.size(), 3u);
                                         EXPECT_EQ(trial.unrelated.task.name, "d");
                                         EXPECT_EQ(trial.gate.most, 12);
                                         EXPECT_EQ(trial.config.search.evaluations, kRecheckEvaluations);
                                         return trial_with(helps ? 0.1 : -0.2, 0.12, 20);
                                       },
                                       {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(tried, std::vector<std::string>{"old"});  // a tenth, at least one
    EXPECT_EQ(result->verified, 2);
    ASSERT_EQ(result->skills.size(), 1u);
    EXPECT_EQ(result->skills[0].holds, helps);
    EXPECT_EQ(result->skills[0].evaluations, 12 * 36);
    EXPECT_EQ(result->evaluations, 12 * 36);
    std::vector<std::string> skipped;
    const auto after = store.skills(skipped);
    for (const Skill& one : *after) {
      const bool demoted = one.name == "old" && !helps;
      EXPECT_EQ(one.state, demoted ? skill::State::retired : skill::State::verified) << one.name;
      EXPECT_EQ(one.evidence.size(), one.name == "old" ? 2u : 1u);
    }
    const auto back = recheck_from_json(to_json(*result));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, *result);
  }
}

TEST(SkillRecheck, ABudgetLimitsSamplesAndOneThatIsTooSmallIsSaid) {
  FakeSkillStore store;
  ASSERT_TRUE(store.change({verified_skill("old", 2)}, {}));
  int most = 0;
  const auto look = [&](const SkillTrial& trial) -> Result<Evidence> {
    most = trial.gate.most;
    EXPECT_LE(trial.gate.first, most);
    Evidence one = trial_with(0.2, 0.1, 20);
    one.samples = 3 * most;
    return one;
  };
  const auto some = recheck_skills(store, recheck_config(), recheck_tasks(), 150, "folder", look, {});
  ASSERT_TRUE(some);
  EXPECT_EQ(most, 4);
  EXPECT_LE(some->evaluations, 150);
  const auto none = recheck_skills(store, recheck_config(), recheck_tasks(), 50, "folder", look, {});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->skills.empty());
  EXPECT_NE(none->note.find("72 evaluations or more"), std::string::npos) << none->note;
  const auto off = recheck_skills(store, recheck_config(), recheck_tasks(), 0, "folder", look, {});
  ASSERT_TRUE(off);
  EXPECT_TRUE(off->skills.empty() && off->note.empty());
}

TEST(SkillRecheck, WhatWasTriedWithOtherSettingsIsTriedAgainWithThem) {
  FakeSkillStore store;
  Skill one = verified_skill("old", 2);
  one.evidence[0].settings = {"search.starts=0"};
  ASSERT_TRUE(store.change({one}, {}));
  int trials = 0;
  const auto look = [&](const SkillTrial& trial) -> Result<Evidence> {
    ++trials;
    EXPECT_EQ(trial.config.search.starts, 0);
    EXPECT_EQ(trial.settings, one.evidence[0].settings);
    return trial_with(0.2, 0.1, 20);
  };
  ASSERT_TRUE(recheck_skills(store, recheck_config(), recheck_tasks(), 500, "folder", look, {}));
  EXPECT_EQ(trials, 1);
}

TEST(SkillRecheck, TheNewestCandidateHasTheWholeGateWithWhatIsLeft) {
  const auto candidate = [](const std::string& name, std::int64_t when) {
    Skill one = verified_skill(name, 0);
    one.state = skill::State::candidate;
    one.evidence.clear();
    one.recorded_ms = when;
    return one;
  };
  for (const bool helps : {true, false}) {
    FakeSkillStore store;
    Skill words = candidate("words", 99);
    words.hints.clear();  // nothing for the builtin mind
    ASSERT_TRUE(store.change({candidate("young", 20), candidate("old", 10), words}, {}));
    std::vector<std::string> tried;
    const auto look = [&](const SkillTrial& trial) -> Result<Evidence> {
      tried.push_back(trial.skill.name);
      EXPECT_EQ(trial.gate.most, skill::GateOptions{}.most);
      return trial_with(helps ? 0.2 : 0, 0.1, 20);
    };
    const auto result = recheck_skills(store, recheck_config(), recheck_tasks(), 440, "folder", look, {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(tried, std::vector<std::string>{"young"});
    EXPECT_GE(result->candidates, 2);
    ASSERT_EQ(result->skills.size(), 1u);
    EXPECT_TRUE(result->skills[0].first);
    EXPECT_EQ(result->skills[0].holds, helps);
    std::vector<std::string> skipped;
    const auto after = store.skills(skipped);
    const auto young = std::ranges::find(*after, "young", &Skill::name);
    EXPECT_EQ(young->state, helps ? skill::State::verified : skill::State::refused);
    EXPECT_EQ(*recheck_from_json(to_json(*result)), *result);
  }
  FakeSkillStore store;
  ASSERT_TRUE(store.change({candidate("young", 20)}, {}));
  const auto none =
      recheck_skills(store, recheck_config(), recheck_tasks(), 431, "folder",
                     [](const SkillTrial&) -> Result<Evidence> { return fail(Errc::io, "no trial was expected"); }, {});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->skills.empty());
  EXPECT_NE(none->note.find("--recheck 432"), std::string::npos) << none->note;
}

TEST(SkillRecheck, AnInterruptedTrialDecidesNothing) {
  FakeSkillStore store;
  ASSERT_TRUE(store.change({verified_skill("old", 2)}, {}));
  const auto result =
      recheck_skills(store, recheck_config(), recheck_tasks(), 1000, "folder",
                     [](const SkillTrial&) -> Result<Evidence> { return fail(Errc::cancelled, "interrupted"); }, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->skills.empty());
  std::vector<std::string> skipped;
  EXPECT_EQ(store.skills(skipped).value()[0].evidence.size(), 1u);
}

}  // namespace
}  // namespace kerf
