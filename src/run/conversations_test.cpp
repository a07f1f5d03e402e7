#include "run/conversations.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run/run_json.hpp"
#include "run/run_view.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

Step step_with(std::int64_t number, std::vector<Exchange> exchanges) {
  Step step;
  step.number = number;
  step.evaluation.outcome = Rejected{};
  step.exchanges = std::move(exchanges);
  return step;
}

Exchange exchange(const std::string& role, const std::string& reply, const std::string& outcome = "reply") {
  Exchange one;
  one.role = role;
  one.model = "small";
  one.messages = {{"system", "s"}, {"user", "question"}};
  one.reply = reply;
  one.outcome = outcome;
  one.prompt_tokens = 10;
  one.reply_tokens = 3;
  one.seconds = 2;
  return one;
}

TEST(Conversations, AreReadByStepAndLongTextsAreCutBetweenCharacters) {
  FakeRunStore store;
  std::string text(kShownText - 1, 'x');
  text += "\u00e9 and more";
  ASSERT_TRUE(store.append(step_with(1, {})));
  ASSERT_TRUE(store.append(step_with(2, {exchange("select", "none"), exchange("policy", text)})));
  const auto all = load_conversations(store, store.steps().value());
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 1u);
  const auto& turns = all->at(2);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].reply, "none");
  EXPECT_EQ(turns[1].reply, std::string(kShownText - 1, 'x') + "\n... 11 bytes more");
}

TEST(Conversations, ASumNamesModelsQuestionsAndWhatGaveNoAnswer) {
  Exchange other = exchange("policy", "", "timeout");
  other.model = "large";
  const ConversationSum sum = sum_of({exchange("select", "none"), exchange("policy", "k"), other});
  EXPECT_EQ(sum.models, "small, large");
  EXPECT_EQ(sum.questions, "select, policy, policy (timeout)");
  EXPECT_EQ(sum.prompt_tokens, 30);
  EXPECT_EQ(sum.reply_tokens, 9);
  EXPECT_EQ(sum.seconds, 6);
}

TEST(Conversations, TheNewestTextsAreInTheJsonWhileTheyFit) {
  RunView run;
  run.conversations[1] = {exchange("policy", "first")};
  run.conversations[2] = {exchange("policy", "second")};
  const std::size_t one = std::string("squestionsecond").size();
  const auto json = nlohmann::json::parse(conversations_json(run, one));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["step"], 1);
  EXPECT_FALSE(json[0]["turns"][0].contains("reply"));
  EXPECT_EQ(json[0]["turns"][0]["asked_as"], "policy");
  EXPECT_EQ(json[1]["turns"][0]["reply"], "second");
  EXPECT_EQ(json[1]["turns"][0]["messages"][1]["content"], "question");
  EXPECT_FALSE(nlohmann::json::parse(conversations_json(run))[1]["turns"][0].contains("reply"));
}

}  // namespace
}  // namespace kerf
