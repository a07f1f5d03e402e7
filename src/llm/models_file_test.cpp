#include "llm/models_file.hpp"

#include <gtest/gtest.h>

namespace kerf::llm {
namespace {

constexpr const char* kModelsText = R"([[model]]
name = "large"
base_url = "https://api.example/v1"
prompt_price = 1.25
reply_price = 10
context_tokens = 200000
temperature = 0.7
first_byte_seconds = 1200
requests_per_minute = 60

[[model]]
name = "small"
base_url = "http://127.0.0.1:8080/v1"
at_once = 1
)";

TEST(ModelsFile, ReadsModelsAndWritesThemBack) {
  const auto models = parse_models(kModelsText, "models.toml").value();
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].price, (Price{1.25, 10}));
  EXPECT_EQ(models[0].context_tokens, 200000);
  EXPECT_EQ(models[0].rate.requests_per_minute, 60);
  EXPECT_EQ(models[0].first_byte_seconds, 1200);
  EXPECT_EQ(models[1].silence_seconds, std::nullopt);
  EXPECT_EQ(models[1].price, std::nullopt);
  EXPECT_EQ(models[1].rate.at_once, 1);
  EXPECT_EQ(parse_models(to_toml(models), "again").value(), models);
}

TEST(ModelsFile, ErrorsSayWhereAndWhatIsKnown) {
  const auto error = [](const std::string& text) { return parse_models(text, "m.toml").error().message; };
  EXPECT_NE(
      error("[[model]]\nname='a'\nbase_urll='b'").find("m.toml:3: unknown key 'base_urll' (did you mean 'base_url'?)"),
      std::string::npos);
  EXPECT_NE(error("[[model]]\nname='a'").find("'base_url'"), std::string::npos);
  EXPECT_NE(error("[[model]]\nname='a'\nbase_url='b'\nat_once=0").find("m.toml:4"), std::string::npos);
  EXPECT_NE(error("[[model]]\nname='a'\nbase_url='b'\nreply_price=1").find("belong together"), std::string::npos);
  EXPECT_NE(error("").find("no [[model]]"), std::string::npos);
  EXPECT_NE(error("key = 'sk'").find("m.toml:1"), std::string::npos);
  EXPECT_NE(error("[[model]]\nname='a'\nbase_url='b'\n[[model]]\nname='a'\nbase_url='c'").find("twice"),
            std::string::npos);
}

}  // namespace
}  // namespace kerf::llm
