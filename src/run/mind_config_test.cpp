#include "run/mind_config.hpp"

#include <gtest/gtest.h>

#include "run/run_config.hpp"

namespace kerf {
namespace {

MindConfig make_minds() {
  MindConfig minds;
  minds.names = {"builtin", "llm", "command"};
  minds.models = {{"m", "https://api.example/v1", llm::Price{1, 2}, 8192, 2048, 0.5, {3, 60, 1000}, "/keys/m"},
                  {"n", "http://127.0.0.1:1/v1", std::nullopt, 4096, 512, std::nullopt, {}, ""}};
  minds.budget = {100000, 0};
  minds.command = "agent --say \"x\"\n[[model]]\n # y";
  minds.command_seconds = 30;
  minds.knowledge = false;
  return minds;
}

TEST(MindConfig, ARunKeepsItsMinds) {
  RunConfig config;
  config.minds = make_minds();
  const auto read = config_from_toml(to_toml(config, "task"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->minds, config.minds);
}

TEST(MindConfig, RunsOfBeforeAskTheBuiltinMind) {
  RunConfig config;
  std::string text = to_toml(config, "task");
  text.resize(text.find("\n[minds]"));
  EXPECT_EQ(config_from_toml(text).value().minds, MindConfig{});
}

TEST(MindConfig, NamesAreChecked) {
  EXPECT_EQ(parse_mind_names("builtin, llm").value(), (std::vector<std::string>{"builtin", "llm"}));
  EXPECT_NE(parse_mind_names("lm").error().message.find("did you mean 'llm'"), std::string::npos);
  EXPECT_FALSE(parse_mind_names("llm,llm"));
  EXPECT_FALSE(parse_mind_names(""));
}

TEST(MindConfig, EveryMindHasWhatItNeeds) {
  EXPECT_TRUE(check_minds(MindConfig{}));
  MindConfig minds;
  minds.names = {"llm"};
  EXPECT_NE(check_minds(minds).error().message.find("--model"), std::string::npos);
  minds.models = {{"n", "http://127.0.0.1:1/v1", std::nullopt, 4096, 512, std::nullopt, {}, ""}};
  EXPECT_TRUE(check_minds(minds));
  minds.budget.cost_usd = 1;
  EXPECT_NE(check_minds(minds).error().message.find("price of n"), std::string::npos);
  minds.models[0].price = llm::Price{};
  EXPECT_TRUE(check_minds(minds));
  minds.names = {"builtin"};
  EXPECT_FALSE(check_minds(minds));
  minds.models.clear();
  minds.command = "x";
  EXPECT_FALSE(check_minds(minds));
  minds.names = {"command"};
  EXPECT_TRUE(check_minds(minds));
}

}  // namespace
}  // namespace kerf
