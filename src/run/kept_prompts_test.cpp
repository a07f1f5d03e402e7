#include "run/kept_prompts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "memory/fake_prompt_store.hpp"
#include "propose/agents/prompt_evolution.hpp"
#include "run/prompts.hpp"
#include "run/run_config.hpp"
#include "store/fake_run_store.hpp"
#include "target/target.hpp"

namespace kerf {
namespace {

agents::PromptSections edited(const std::string& strategies) {
  agents::PromptSections sections = agents::seed_sections();
  sections["strategies"] = strategies;
  return sections;
}

KeptPrompt kept_prompt(const agents::PromptSections& sections, PromptFigures figures) {
  return {agents::sections_id(sections), "t", "", agents::sections_text(sections), 1, 1, figures};
}

std::vector<std::string> ids_of(const std::vector<agents::PromptVariant>& variants) {
  std::vector<std::string> ids;
  for (const agents::PromptVariant& one : variants) ids.push_back(one.id);
  return ids;
}

TEST(KeptPrompts, ARunBeginsWithWhatDidBetterThanTheSeed) {
  const auto seed = agents::seed_sections();
  const auto good = edited("good"), better = edited("better"), worse = edited("worse"), fresh = edited("fresh");
  const auto begun = prompts_to_begin_with(
      {kept_prompt(seed, {40, -0.02, 0.1, 0.3}), kept_prompt(worse, {40, -0.05, 0.1, 0.9}),
       kept_prompt(good, {40, 0.02, 0.1, 0.3}), kept_prompt(better, {40, 0.05, 0.1, 0.3}), kept_prompt(fresh, {})},
      seed);
  const std::vector<std::string> expected = {agents::sections_id(seed), agents::sections_id(better),
                                             agents::sections_id(good), agents::sections_id(fresh)};
  EXPECT_EQ(ids_of(begun), expected);
  EXPECT_EQ(begun[1].uses, 8);  // the run can overrule it
  EXPECT_NEAR(begun[1].square, 0.1 * 8 / 40, 1e-12);
  EXPECT_NEAR(begun[1].mean, 0, 1e-12);
  EXPECT_NEAR(begun[0].mean, -0.07, 1e-12);
  EXPECT_EQ(begun[3].uses, 0);
}

TEST(KeptPrompts, AFewAnswersAreNoProof) {
  const auto lucky = edited("lucky"), sure = edited("sure");
  const auto begun = prompts_to_begin_with(
      {kept_prompt(lucky, {4, 0.06, 0.3, 0.9}), kept_prompt(sure, {100, 0.05, 1, 0.4})}, agents::seed_sections());
  EXPECT_EQ(ids_of(begun).front(), agents::sections_id(sure));
}

TEST(KeptPrompts, TextThatIsNoPromptIsLeftOut) {
  KeptPrompt changed = kept_prompt(edited("a"), {40, 0.1, 0, 0.3});
  changed.text = agents::sections_text(edited("b"));  // its id is another
  KeptPrompt cut = kept_prompt(edited("c"), {40, 0.1, 0, 0.3});
  cut.text = "# philosophy\nonly this\n";
  EXPECT_TRUE(prompts_to_begin_with({changed, cut}, agents::seed_sections()).empty());
}

TEST(KeptPrompts, AreReadBackAsTheRunKeptThem) {
  const auto begun = prompts_to_begin_with({kept_prompt(edited("a"), {5, 0.1, 0.02, 0.3})}, agents::seed_sections());
  const auto back = variants_from_json(to_json(begun));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ids_of(*back), ids_of(begun));
  EXPECT_EQ(back->front().uses, 5);
  EXPECT_FALSE(variants_from_json("[{\"text\": 1}]"));
  EXPECT_FALSE(variants_from_json("no json"));
}

Step prompted_step(std::int64_t number, double speedup, const std::string& variant) {
  Step step;
  step.number = number;
  step.proposer = kLlmMind;
  step.provenance.prompt = "draft-00000000-" + variant;
  Measurement measurement;
  measurement.speedup = {"naive", speedup, speedup, speedup};
  step.evaluation.outcome = measurement;
  return step;
}

TEST(KeptPrompts, ARunLeavesItsOwnFiguresOnce) {
  FakeRunStore run;
  RunConfig config;
  config.minds.names = {kLlmMind};
  config.minds.models = {{"m", "http://127.0.0.1:1/v1", std::nullopt, 4096, 512, std::nullopt, {}, ""}};
  ASSERT_TRUE(run.set("config", to_toml(config, "task")));
  ASSERT_TRUE(run.set("run_id", "r1"));
  const auto better = edited("better");
  const auto begun = prompts_to_begin_with({kept_prompt(better, {40, 0.05, 0.1, 0.3})}, agents::seed_sections());
  ASSERT_TRUE(run.set(kPromptsFact, to_json(begun)));
  ASSERT_TRUE(run.append(prompted_step(1, 2, agents::sections_id(better))));
  ASSERT_TRUE(run.append(prompted_step(2, 3, agents::sections_id(better))));
  EXPECT_EQ(prompts_of(run)->find(agents::sections_id(better))->uses, 10);
  FakePromptStore store;
  ASSERT_TRUE(keep_prompts(store, run, "t", 5));
  ASSERT_TRUE(keep_prompts(store, run, "t", 6));  // a run that is resumed
  const auto kept = store.prompts("t");
  ASSERT_EQ(kept->size(), 1u);  // the seed was not used
  EXPECT_EQ(kept->front().figures.uses, 2);
  EXPECT_EQ(kept->front().runs, 1);
  EXPECT_TRUE(store.prompts("another")->empty());
}

TEST(KeptPrompts, FilesBringTextAndNoFigures) {
  KeptPrompt one = kept_prompt(edited("a"), {40, 0.5, 0.1, 0.3});
  one.target = default_target();
  const auto back = parse_prompts_file(prompts_file({one}), 9);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->front().id, one.id);
  EXPECT_EQ(back->front().figures, PromptFigures{});
  const auto error = [](const std::string& text) { return parse_prompts_file(text, 9).error().message; };
  EXPECT_NE(error("{\"kind\":\"kerf skills\",\"schema\":1}\n").find("line 1: this is no file of prompts"),
            std::string::npos);
  one.text = "# tricks\n";
  EXPECT_NE(error(prompts_file({one})).find("line 2: unknown section 'tricks'"), std::string::npos);
  one.target = "abacus";
  EXPECT_NE(error(prompts_file({one})).find("line 2: "), std::string::npos);
}

/// A task with the chances of tests/llm/writer.py: a simulation of the learner's environment.
struct SimulatedTask {
  int good_questions = 0;  ///< of the first 40, with the sentence that helps
  int faster = 0;          ///< answers of the first 40
};

bool says(const agents::PromptVariant& variant, const char* word) {
  return variant.sections.at("strategies").find(word) != std::string::npos;
}

SimulatedTask simulated_task(PromptStore& store, const std::string& run, bool shared, int questions, Rng& rng) {
  agents::PromptPopulation population(agents::seed_sections(), {});
  agents::PromptPopulation own = population;  // the figures of this run alone
  if (shared)
    for (agents::PromptVariant one : prompts_to_begin_with(*store.prompts("t"), agents::seed_sections())) {
      population.inherit(one);
      one.uses = one.asked = 0;
      one.mean = one.square = one.best = 0;
      own.inherit(one);
    }
  SimulatedTask result;
  for (int i = 0; i < questions; ++i) {
    if (population.wants_child()) {
      const agents::PromptVariant parent = population.parent_for_child(rng);
      const double draw = rng.uniform();
      const std::string more = draw < 0.3 ? "GOOD" : draw < 0.5 ? "HARMFUL" : "inert " + run + std::to_string(i);
      const auto sections = edited(parent.sections.at("strategies") + "\n" + more);
      if (population.add(parent.id, sections)) own.restore(parent.id, sections);
    }
    const agents::PromptVariant chosen = population.choose(rng);
    const bool good = says(chosen, "GOOD"), harmful = says(chosen, "HARMFUL");
    const bool compiles = rng.chance(harmful ? 0.25 : 0.55), right = rng.chance(harmful ? 0.5 : 0.6);
    const bool faster = rng.chance(good ? 0.6 : 0.3) && compiles && right;
    const double gain = faster ? 0.15 * -std::log(1 - rng.uniform()) : 0;
    population.observe(chosen.id, "refine", gain);
    own.observe(chosen.id, "refine", gain);
    if (i < 40) result.good_questions += good && !harmful ? 1 : 0;
    if (i < 40) result.faster += faster ? 1 : 0;
  }
  std::vector<KeptPrompt> left;
  for (const agents::PromptVariant& one : own.variants())
    if (one.uses > 0)
      left.push_back({one.id,
                      "t",
                      one.parent,
                      agents::sections_text(one.sections),
                      1,
                      1,
                      {one.uses, one.mean, one.square, one.best}});
  EXPECT_TRUE(store.keep(run, left));
  return result;
}

/// Means over many users, each with three tasks of 120 questions, of the first 40 questions of the third.
std::pair<double, double> third_task(bool shared) {
  constexpr int kUsers = 150;
  double good = 0, faster = 0;
  for (int user = 0; user < kUsers; ++user) {
    FakePromptStore store;
    Rng rng(static_cast<std::uint64_t>(user) + 1);
    SimulatedTask last;
    for (const char* run : {"a", "b", "c"}) last = simulated_task(store, run, shared, 120, rng);
    good += last.good_questions / 40.0 / kUsers;
    faster += last.faster / 40.0 / kUsers;
  }
  return {good, faster};
}

TEST(KeptPrompts, ALaterTaskBeginsWithTheBetterSection) {
  const auto [shared_good, shared_faster] = third_task(true);
  const auto [own_good, own_faster] = third_task(false);
  RecordProperty("good_shared", std::to_string(shared_good));
  RecordProperty("good_own", std::to_string(own_good));
  RecordProperty("faster_shared", std::to_string(shared_faster));
  RecordProperty("faster_own", std::to_string(own_faster));
  EXPECT_GT(shared_good, 2 * own_good);
  EXPECT_GT(shared_faster, 1.15 * own_faster);
}

}  // namespace
}  // namespace kerf
