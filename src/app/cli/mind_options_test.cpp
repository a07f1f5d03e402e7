#include "app/cli/mind_options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

TEST(MindOptions, AModelIsAskedWhereItIs) {
  MindOptions options;
  options.minds = "llm";
  options.models = {"a", "b"};
  options.base_urls = {"http://127.0.0.1:1/v1"};
  options.context_tokens = 8192;
  MindConfig minds;
  ASSERT_TRUE(overlay_minds(options, minds));
  ASSERT_EQ(minds.models.size(), 2u);
  EXPECT_EQ(minds.models[1].base_url, "http://127.0.0.1:1/v1");
  EXPECT_EQ(minds.models[1].context_tokens, 8192);
  EXPECT_EQ(minds.models[1].max_reply_tokens, 4096);
  options.base_urls = {"http://x/1", "http://x/2", "http://x/3"};
  EXPECT_FALSE(overlay_minds(options, minds));
}

TEST(MindOptions, ThatDoNotGoTogetherAreRefused) {
  MindConfig minds;
  MindOptions no_model;
  no_model.minds = "llm";
  EXPECT_FALSE(overlay_minds(no_model, minds));
  MindOptions no_mind;
  no_mind.models = {"a"};
  MindConfig builtin;
  EXPECT_NE(overlay_minds(no_mind, builtin).error().message.find("--mind llm"), std::string::npos);
  MindOptions url_alone;
  url_alone.base_urls = {"http://x"};
  EXPECT_FALSE(overlay_minds(url_alone, builtin));
  MindOptions tokens, cost, record;
  tokens.max_tokens = 1000;
  cost.max_cost = 1.0;
  record.record_chats = "chats.jsonl";
  for (const MindOptions& options : {tokens, cost, record}) {
    const auto refused = overlay_minds(options, builtin);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_input);
    EXPECT_NE(refused.error().message.find("--mind llm"), std::string::npos);
  }
}

TEST(MindOptions, TheAgentsProgramIsLookedForInTheUsersFolder) {
  const fs::path folder = fs::temp_directory_path() / ("kerf agent's " + std::to_string(::getpid()));
  const fs::path before = fs::current_path();
  fs::create_directories(folder);
  fs::current_path(folder);
  std::ofstream("agent.sh") << "#!/bin/sh\n";
  MindOptions options;
  options.minds = "command";
  const auto command = [&](const std::string& text) -> Result<std::string> {
    options.agent_command = text;
    MindConfig minds;
    KERF_TRY_VOID(overlay_minds(options, minds));
    return minds.command;
  };
  EXPECT_NE(command("./agent.sh").error().message.find("chmod +x"), std::string::npos);
  fs::permissions("agent.sh", fs::perms::owner_all);
  const auto found = command("./agent.sh --fast x");
  EXPECT_NE(command("./absent.sh").error().message.find("absent.sh"), std::string::npos);
  EXPECT_NE(command("agent.sh").error().message.find("./agent.sh"), std::string::npos);
  EXPECT_EQ(command("MODEL=x ./agent.sh").value(), "MODEL=x ./agent.sh");
  EXPECT_EQ(command("sh -c true").value(), "sh -c true");
  fs::current_path(before);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->starts_with("'/") && found->ends_with("/agent.sh' --fast x")) << *found;
  EXPECT_EQ(std::system((*found + " 2>/dev/null").c_str()), 0);
  fs::remove_all(folder);
}

TEST(MindOptions, ARunMayGoOnWithOtherMinds) {
  MindConfig minds;
  minds.names = {"llm", "command"};
  minds.models.resize(1);
  minds.models[0].name = "m";
  minds.models[0].base_url = "https://api.openai.com/v1";
  minds.budget.tokens = 1000;
  minds.command = "true";
  MindOptions options;
  options.minds = "builtin";
  const auto changed = overlay_minds(options, minds);
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(minds, MindConfig{});
  options.models = {"n"};
  EXPECT_FALSE(overlay_minds(options, minds)) << "a model that is named is meant to be asked";
}

TEST(MindOptions, TheKeyComesFromTheEnvironmentOrAFile) {
  MindConfig minds;
  minds.names = {"llm"};
  minds.models.resize(1);
  minds.models[0].name = "m";
  minds.models[0].base_url = "https://api.openai.com/v1";
  Environment environment;
  const auto refused = mind_access({}, minds, environment);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("OPENAI_API_KEY"), std::string::npos);
  environment.whole["OPENAI_API_KEY"] = "sk-environment";
  EXPECT_EQ(mind_access({}, minds, environment).value().key.reveal(), "sk-environment");

  const fs::path file = fs::temp_directory_path() / ("kerf-key-" + std::to_string(::getpid()));
  std::ofstream(file) << "sk-file\n";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  MindOptions options;
  options.key_file = file;
  EXPECT_EQ(mind_access(options, minds, environment).value().key.reveal(), "sk-file");
  fs::remove(file);
}

TEST(MindOptions, KeysAreNotAmongTheVariablesThatToolsGet) {
  ::setenv("OPENAI_API_KEY", "sk-test", 1);
  const Environment environment = read_environment();
  ::unsetenv("OPENAI_API_KEY");
  EXPECT_EQ(environment.whole.at("OPENAI_API_KEY"), "sk-test");
  EXPECT_FALSE(environment.variables.contains("OPENAI_API_KEY"));
}

}  // namespace
}  // namespace kerf::cli
