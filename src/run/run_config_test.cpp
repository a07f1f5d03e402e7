#include "run/run_config.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(RunConfig, IsReadBackAsItWasWritten) {
  RunConfig config;
  config.target = "opencl";
  config.device = "opencl:1";
  config.search.search = "published";
  config.search.seed = ~std::uint64_t{0};
  config.search.evaluations = 33;
  config.search.seconds = 2.5;
  config.search.patience = 7;
  config.memory_rule = memory::Rule::similar;
  config.memory = "off";
  config.record_chats = "/tmp/some chats.jsonl";
  config.embedding = {"mini", "http://127.0.0.1:8090/v1"};
  config.minds.shared_prompts = false;
  config.judge.measure.target_noise = 0.125;
  config.judge.measure.time_limit = std::chrono::milliseconds(77);
  const std::string text = to_toml(config, "gelu");
  const auto back = config_from_toml(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_toml(*back, "gelu"), text);
  EXPECT_EQ(back->search.seed, ~std::uint64_t{0});
  EXPECT_EQ(back->memory_rule, memory::Rule::similar);
  EXPECT_EQ(back->memory, "off") << "a run that is resumed stays without a memory";
  EXPECT_EQ(back->record_chats, "/tmp/some chats.jsonl");
  EXPECT_EQ(back->embedding, config.embedding);
  EXPECT_FALSE(back->minds.shared_prompts);
  EXPECT_EQ(back->judge.measure.time_limit.count(), 77);
  EXPECT_FALSE(config_from_toml("seed = ["));
  EXPECT_FALSE(config_from_toml("target = \"cpu\""));
}

}  // namespace
}  // namespace kerf
