#include "run/run_skills.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "codegen/dialects/dialects.hpp"
#include "ir/expression/expression.hpp"
#include "run/mind_config.hpp"
#include "run/row_task_fixture.hpp"
#include "run/run_json.hpp"
#include "run/skill_tally.hpp"
#include "skill/fake_skill_store.hpp"
#include "skill/skill_file.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

TaskText row_task_text(const std::string& name, const std::string& expression) {
  return {row_task(name, expression), "expr = \"y = " + expression + "\"", ""};
}

std::unique_ptr<synth::Synthesiser> synthesiser_for(const TaskText& task) {
  DeviceFacts facts;
  facts.name = "a processor";
  facts.arch = "x86-64";
  facts.compute_units = 2;
  return synth::Synthesiser::create(task.task, "cpu", codegen::dialects::cpp, facts).value();
}

skill::Skill seed_named(const std::string& name) {
  for (const skill::Skill& seed : skill::seed_skills())
    if (seed.name == name) return seed;
  ADD_FAILURE() << name;
  return {};
}

skill::Skill verified(skill::Skill skill, double effect = 0.3) {
  skill::Evidence trial;
  trial.admitted = true;
  trial.effect = effect;
  trial.samples = 36;
  return skill::with_evidence(std::move(skill), trial);
}

Step measured_step(std::int64_t number, const std::string& proposer, double speedup,
                   std::vector<std::string> context = {}) {
  Step step;
  step.number = number;
  step.stage = Stage::start;
  step.proposer = proposer;
  step.operation = kStartOperation;
  step.provenance.context = std::move(context);
  if (speedup > 0) {
    Measurement measurement;
    measurement.speedup = {"naive", speedup, speedup, speedup};
    step.evaluation.outcome = measurement;
  } else {
    step.evaluation.outcome = BuildFailed{"", "error"};
  }
  return step;
}

TEST(RunSkills, OnlyVerifiedSkillsOfTheTasksScopeAreOffered) {
  const TaskText softmax = row_task_text("softmax", "softmax(x, axis=-1)");
  std::vector<skill::Skill> all = skill::seed_skills();
  for (skill::Skill& one : all) one.state = skill::State::candidate;
  EXPECT_TRUE(shortlist(all, SkillRule::verified, softmax, "cpu").empty());
  const auto candidates = shortlist(all, SkillRule::all, softmax, "cpu");
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].name, "keep-the-row");
  for (skill::Skill& one : all) one = verified(one);
  EXPECT_EQ(shortlist(all, SkillRule::verified, softmax, "cpu").size(), 1u);
  EXPECT_EQ(shortlist(all, SkillRule::verified, softmax, "cuda")[0].name, "warp-per-row");
  EXPECT_TRUE(shortlist(all, SkillRule::off, softmax, "cpu").empty());
}

TEST(RunSkills, HintsBecomeKernelsThatNameTheirSkill) {
  const TaskText softmax = row_task_text("softmax", "softmax(x, axis=-1)");
  const auto synthesiser = synthesiser_for(softmax);
  const skill::Skill skill = seed_named("keep-the-row");
  const auto kernels = skill_kernels({{skill}}, softmax.task, *synthesiser, 1, 3);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NE(kernels[0].change.find("row/rows"), std::string::npos) << kernels[0].change;
  EXPECT_NE(kernels[0].genome.find("64"), std::string::npos) << "LANES of the hint: " << kernels[0].genome;
  EXPECT_EQ(kernels[0].provenance.context, std::vector<std::string>{"skill:" + skill.id});
  EXPECT_TRUE(skill_kernels({{skill}}, softmax.task, *synthesiser, 1, 0).empty());
  const skill::Skill bad = verified(skill, -0.2);
  EXPECT_TRUE(skill_kernels({{bad}}, softmax.task, *synthesiser, 1, 3).empty()) << "none is a choice";
  EXPECT_EQ(skill_kernels({{bad}, true}, softmax.task, *synthesiser, 1, 3).size(), 1u) << "but not in a trial";
}

TEST(RunSkills, AHintWithoutOperatorsIsForWhateverTheTaskHas) {
  const TaskText gelu = row_task_text("gelu", "gelu(x)");
  const auto synthesiser = synthesiser_for(gelu);
  const auto kernels = skill_kernels({{seed_named("stream-large-outputs")}}, gelu.task, *synthesiser, 1, 3);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NE(kernels[0].change.find("pointwise/stream"), std::string::npos) << kernels[0].change;
}

TEST(RunSkills, APlaceboHasAsManyKernelsDrawnAtRandom) {
  const TaskText softmax = row_task_text("softmax", "softmax(x, axis=-1)");
  const auto synthesiser = synthesiser_for(softmax);
  const agents::SkillOffer placebo{{seed_named("keep-the-row")}, true, true};
  std::set<std::string> genomes;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto kernels = skill_kernels(placebo, softmax.task, *synthesiser, seed, 3);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_TRUE(kernels[0].provenance.context.empty()) << "no skill gets credit for it";
    genomes.insert(kernels[0].genome);
  }
  EXPECT_GT(genomes.size(), 2u);
}

TEST(RunSkills, WhatARunCouldUseIsRecorded) {
  const agents::SkillOffer offer{{verified(seed_named("keep-the-row"))}, true, false};
  const auto again = offer_from_json(to_json(offer));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->skills, offer.skills);
  EXPECT_TRUE(again->always);
  EXPECT_FALSE(offer_from_json("[]"));
}

TEST(RunSkills, AHintIsWorthWhatItAddsToTheOtherFirstGuesses) {
  const std::vector<Step> steps{measured_step(1, kSkillMind, 4, {"skill:a"}),
                                measured_step(2, kSkillMind, 0, {"skill:b"}), measured_step(3, "builtin", 2),
                                measured_step(4, "memory", 1)};
  const auto uses = skill_uses(steps, "run");
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].skill, "a");
  EXPECT_NEAR(uses[0].gain, std::log(2.0), 1e-9);
  EXPECT_NEAR(uses[1].gain, -std::log(2.0), 1e-9) << "one that failed leaves the baseline";
}

TEST(RunSkills, AnAnswerIsComparedWithThoseWithoutASkill) {
  std::vector<Step> steps{measured_step(1, "llm", 1), measured_step(2, "llm", 4, {"skill:a"}),
                          measured_step(3, "llm", 1)};
  for (Step& step : steps) {
    step.stage = Stage::search;
    step.operation = "draft";
    step.provenance.model = "m";
  }
  const auto uses = skill_uses(steps, "run");
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_NEAR(uses[0].gain, std::log(4.0), 1e-9);
  steps.erase(steps.begin() + 2);
  steps.erase(steps.begin());
  EXPECT_TRUE(skill_uses(steps, "run").empty()) << "nothing to compare with";
}

TEST(RunSkills, AProgramIsComparedWithItselfAndNotWithModels) {
  std::vector<Step> steps{measured_step(1, kLlmMind, 8), measured_step(2, kCommandMind, 4, {"skill:a"}),
                          measured_step(3, kCommandMind, 2)};
  for (Step& step : steps) {
    step.stage = Stage::search;
    step.operation = "draft";
    step.provenance.model = step.proposer;
  }
  const auto uses = skill_uses(steps, "run");
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_NEAR(uses[0].gain, std::log(2.0), 1e-9);
}

TEST(RunSkills, ALineThatBecameFasterLeavesACandidate) {
  const TaskText softmax = row_task_text("softmax", "softmax(x, axis=-1)");
  const auto synthesiser = synthesiser_for(softmax);
  const auto starts = synthesiser->starts();
  FakeRunStore run;
  ASSERT_TRUE(run.set("run_id", "r1"));
  Step first = measured_step(1, "builtin", 2);
  first.genome = synth::to_json(starts[1]);
  Step child = measured_step(2, "builtin", 3);
  child.stage = Stage::search;
  child.parents = {1};
  child.genome = synth::to_json(starts[0]);
  ASSERT_TRUE(run.append(first));
  ASSERT_TRUE(run.append(child));
  FakeSkillStore store;
  const auto lessons = learn_skills(store, run, softmax, "cpu", synthesiser.get(), 7);
  ASSERT_TRUE(lessons) << lessons.error().message;
  ASSERT_EQ(lessons->added.size(), 1u);
  std::vector<std::string> skipped;
  const skill::Skill kept = store.skills(skipped)->front();
  EXPECT_EQ(kept.state, skill::State::candidate);
  EXPECT_EQ(kept.scope.families, std::vector<std::string>{"reduce"});
  EXPECT_NE(kept.motivation.find("1.50 times"), std::string::npos) << kept.motivation;
  EXPECT_FALSE(skill_kernels({{kept}}, softmax.task, *synthesiser, 1, 3).empty()) << "its hints can be followed";
  EXPECT_TRUE(learn_skills(store, run, softmax, "cpu", synthesiser.get(), 7)->added.empty()) << "known";
}

TEST(RunSkills, WhatAModelWroteDownBecomesACandidate) {
  FakeRunStore run;
  ASSERT_TRUE(run.set("run_id", "r1"));
  Step step = measured_step(1, "llm", 2);
  step.provenance.model = "m";
  skill::Skill told;
  told.name = "told";
  told.description = "d";
  told.key_idea = "k";
  step.exchanges.push_back({});
  step.exchanges[0].role = "summarise";
  step.exchanges[0].result = skill::to_toml(told);
  ASSERT_TRUE(run.append(step));
  FakeSkillStore store;
  const auto lessons = learn_skills(store, run, row_task_text("softmax", "softmax(x, axis=-1)"), "cpu", nullptr, 7);
  ASSERT_TRUE(lessons) << lessons.error().message;
  EXPECT_EQ(lessons->added, std::vector<std::string>{"told"});
}

TEST(RunSkills, WhatCameOfEachIsCounted) {
  RunView run;
  const skill::Skill used = verified(seed_named("keep-the-row")), other = seed_named("register-tiles");
  run.facts["skills"] = to_json(agents::SkillOffer{{other, used}});
  run.steps = {measured_step(1, kSkillMind, 4, {"skill:" + used.id}),
               measured_step(2, kSkillMind, 0, {"skill:" + used.id}), measured_step(3, "builtin", 2)};
  const auto tallies = tally_skills(run);
  ASSERT_EQ(tallies.size(), 2u);
  EXPECT_EQ(tallies[0].skill.name, "keep-the-row");
  EXPECT_EQ(tallies[0].used, 2u);
  EXPECT_EQ(tallies[0].passed, 1u);
  EXPECT_EQ(tallies[0].compared, 2u);
  EXPECT_NEAR(tallies[0].gain, 0, 1e-9) << "twice as fast and none";
  EXPECT_EQ(tallies[1].used, 0u);
  ASSERT_NE(last_trial(tallies[0].skill), nullptr);
  EXPECT_EQ(last_trial(tallies[1].skill), nullptr);
  const auto json = nlohmann::json::parse(skills_json(run));
  EXPECT_NEAR(json[0]["gain"].get<double>(), 1, 1e-9) << "a ratio of speeds";
  EXPECT_NEAR(json[0]["trial"]["effect"].get<double>(), std::exp(last_trial(tallies[0].skill)->effect), 1e-9);
  EXPECT_TRUE(json[1]["trial"].is_null());
  run.facts.clear();
  EXPECT_TRUE(tally_skills(run).empty());
}

}  // namespace
}  // namespace kerf
