#include "run/context_tally.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run/run_json.hpp"

namespace kerf {
namespace {

Step answer(std::int64_t number, double speedup, std::vector<std::string> context) {
  Step step;
  step.number = number;
  step.proposer = "llm";
  step.operation = "draft";
  step.provenance.prompt = "draft-1-pabc";
  step.provenance.prompt_tokens = 10;
  step.provenance.context = std::move(context);
  step.evaluation.outcome = BuildFailed{"", "error"};
  Measurement measurement;
  measurement.speedup = {"naive", speedup, speedup, speedup};
  if (speedup > 0) step.evaluation.outcome = measurement;
  return step;
}

RunView run_with(std::vector<Step> steps) {
  RunView run;
  run.facts["experiences"] = R"({"aa": "softmax"})";
  run.steps = std::move(steps);
  return run;
}

TEST(ContextTally, ItemsHaveTheirUsesAndTheirValueAsItMoved) {
  const RunView run = run_with({answer(1, 0, {"api:x"}), answer(2, 2, {"experience:aa", "api:x"}),
                                answer(3, 0, {"experience:bb"}), answer(4, 3, {"experience:aa"})});
  const auto items = tally_context(run);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].uses, 2u);
  const auto good = std::find_if(items.begin(), items.end(), [](const auto& one) { return one.id == "experience:aa"; });
  ASSERT_NE(good, items.end());
  EXPECT_EQ(good->kind, "experience");
  EXPECT_EQ(good->about, "softmax");
  EXPECT_EQ(good->passed, 2u);
  ASSERT_EQ(good->moves.size(), 2u);
  EXPECT_EQ(good->moves[1].first, 4);
  EXPECT_GT(good->moves[1].second, 0.3);
  EXPECT_EQ(nlohmann::json::parse(known_json(run)).size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(known_json(run, 2)).size(), 2u);
  const auto bad = std::find_if(items.begin(), items.end(), [](const auto& one) { return one.id == "experience:bb"; });
  EXPECT_LT(bad->moves[0].second, 0);
}

TEST(ContextTally, AnswersWithAndWithoutAKindStandSideBySide) {
  const RunView run =
      run_with({answer(1, 0, {}), answer(2, 2, {"experience:aa"}), answer(3, 0, {"experience:aa"}), answer(4, 0, {})});
  const auto arms = knowledge_arms(run);
  ASSERT_EQ(arms.size(), 2u);
  EXPECT_TRUE(arms[0].with);
  EXPECT_EQ(arms[0].answers, 2u);
  EXPECT_EQ(arms[0].passed, 1u);
  EXPECT_GT(arms[0].mean_gain, 0.3);
  EXPECT_GT(nlohmann::json::parse(arms_json(run))[0]["mean_gain"], 1.3) << "a ratio of speeds";
  EXPECT_FALSE(arms[1].with);
  EXPECT_EQ(arms[1].passed, 0u);
  EXPECT_TRUE(knowledge_arms(run_with({answer(1, 2, {})})).empty());
}

TEST(ContextTally, MindsAreCounted) {
  Step builtin = answer(2, 2, {});
  builtin.proposer = "builtin";
  builtin.provenance = {};
  const auto minds = tally_minds(run_with({answer(1, 0, {}), builtin, answer(3, 0, {})}));
  ASSERT_EQ(minds.size(), 2u);
  EXPECT_EQ(minds[0].mind, "llm");
  EXPECT_EQ(minds[0].kernels, 2u);
  EXPECT_EQ(minds[0].tokens, 20);
  EXPECT_EQ(minds[1].passed, 1u);
}

}  // namespace
}  // namespace kerf
