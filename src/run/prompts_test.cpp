#include "run/prompts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "propose/agents/prompt_evolution.hpp"
#include "run/run_config.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

Step llm_step(std::int64_t number, double speedup, const std::string& variant) {
  Step step;
  step.number = number;
  step.proposer = kLlmMind;
  step.provenance.prompt = "draft-00000000-" + variant;
  Measurement measurement;
  measurement.speedup = {"naive", speedup, speedup, speedup};
  step.evaluation.outcome = measurement;
  return step;
}

TEST(Prompts, AreRebuiltFromTheStepsOfTheRun) {
  FakeRunStore store;
  RunConfig config;
  config.minds.names = {kLlmMind};
  config.minds.models = {{"m", "http://127.0.0.1:1/v1", std::nullopt, 4096, 512, std::nullopt, {}, ""}};
  ASSERT_TRUE(store.set("config", to_toml(config, "task")));
  agents::PromptSections sections = agents::seed_sections();
  const std::string seed = agents::sections_id(sections);
  sections["strategies"] = "use tiles";
  const std::string child = agents::sections_id(sections);
  ASSERT_TRUE(store.append(llm_step(1, 1.5, seed)));
  Step second = llm_step(2, 3, child);
  Exchange evolved;
  evolved.role = "evolve";
  evolved.prompt = "evolve-00000000-" + seed;
  evolved.result = agents::sections_text(sections);
  second.exchanges.push_back(evolved);
  ASSERT_TRUE(store.append(second));
  const auto prompts = prompts_of(store);
  ASSERT_TRUE(prompts) << prompts.error().message;
  ASSERT_EQ(prompts->variants().size(), 2u);
  EXPECT_EQ(prompts->variants()[1].parent, seed);
  EXPECT_EQ(prompts->variants()[1].uses, 1);
  EXPECT_EQ(prompts->seed().uses, 1);
  EXPECT_EQ(find_prompt(*prompts, "seed").value()->id, seed);
  EXPECT_EQ(find_prompt(*prompts, child.substr(0, 5)).value()->sections.at("strategies"), "use tiles");
  EXPECT_NE(find_prompt(*prompts, "zzz").error().message.find("choose one of: seed, " + seed), std::string::npos);
}

TEST(Prompts, AreTalliedByWhatCameOfThem) {
  Step refused = llm_step(3, 1, "pb");
  refused.evaluation.outcome = BuildFailed{"", "error"};
  Step builtin = llm_step(4, 9, "pb");
  builtin.provenance.prompt = "";
  const auto all = tally_prompts({llm_step(1, 2, "pa"), llm_step(2, 4, "pb"), refused, builtin});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].variant, "pb");
  EXPECT_EQ(all[1].answers, 2u);
  EXPECT_EQ(all[1].passed, 1u);
  EXPECT_EQ(all[1].last_step, 3);
  EXPECT_NEAR(all[1].mean_gain, std::log(4.0) / 2, 1e-12);
  EXPECT_NEAR(all[1].best_gain, std::log(4.0), 1e-12);
  ASSERT_EQ(all[1].moves.size(), 2u) << "the mean after each answer";
  EXPECT_EQ(all[1].moves[0].first, 2);
  EXPECT_NEAR(all[1].moves[0].second, std::log(4.0), 1e-12);
  EXPECT_NEAR(all[1].moves[1].second, std::log(4.0) / 2, 1e-12);
}

TEST(Prompts, RunsWithoutALanguageModelHaveNone) {
  FakeRunStore store;
  ASSERT_TRUE(store.set("config", to_toml(RunConfig{}, "task")));
  EXPECT_FALSE(prompts_of(store));
}

}  // namespace
}  // namespace kerf
