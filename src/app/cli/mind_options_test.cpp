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
