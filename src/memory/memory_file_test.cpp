#include "memory/memory_file.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "memory/memory_fixture.hpp"

namespace kerf::memory {
namespace {

const Task kRows = made_up_task("rows", "softmax(x, axis=-1)");
const Task kOther = made_up_task("other", "gelu(x)");

TEST(MemoryFile, IsReadBackWithItsValues) {
  Experience one = made_up_kernel(kRows, "passes", 64, 1);
  for (int i = 0; i < 10; ++i) learn(one.values[ValueStage::refine], "reduce", 0.5, Rule::kerf);
  const auto read = from_file(to_file({one, made_up_kernel(kOther, "simd", 8, 0.5)}, {}), {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->skipped.empty());
  ASSERT_EQ(read->experiences.size(), 2u);
  const Experience& back = read->experiences[0];
  EXPECT_EQ(back.recipe, one.recipe);
  EXPECT_EQ(back.signature, one.signature);
  EXPECT_TRUE(back.imported);
  EXPECT_DOUBLE_EQ(value_of(back, ValueStage::refine, "conv"), value_of(one, ValueStage::refine, "conv"));
  EXPECT_EQ(value_count(back, ValueStage::refine), 3) << "of the counts of others only a few are believed";
}

TEST(MemoryFile, LeavesGivenTasksOut) {
  const std::vector<Experience> both{made_up_kernel(kRows, "passes", 64, 1), made_up_kernel(kOther, "simd", 8, 0.5)};
  EXPECT_EQ(from_file(to_file(both, {"rows"}), {})->experiences.size(), 1u);
  EXPECT_EQ(to_file(both, {"rows"}).find("\"rows\""), std::string::npos);
  EXPECT_EQ(from_file(to_file(both, {}), {"id of other"})->experiences.size(), 1u);
}

TEST(MemoryFile, WrongRecordsAreNamedAndPassedOver) {
  const Experience fine = made_up_kernel(kRows, "passes", 64, 1);
  const auto changed = [&](const std::function<void(nlohmann::json&)>& change) {
    auto json = nlohmann::json::parse(to_json(fine));
    change(json);
    return json.dump() + "\n";
  };
  std::string text = to_file({fine}, {});
  text += changed([](auto& json) { json["share"] = 7; });
  text += changed([](auto& json) { json["recipe"]["genes"][0]["parameters"]["LANES"] = "rm -rf"; });
  text += changed([](auto& json) { json["recipe"]["genes"] = nlohmann::json::array(); });
  text += changed([](auto& json) { json["task"] = std::string(5000, 'a'); });
  text += changed([](auto& json) { json["recipe"]["genes"][0]["variant"] = "other"; });  // not what the id says
  text += changed([](auto& json) { json["kind"] = "kernal"; });
  text += changed([](auto& json) { json["values"] = 3; });
  text += changed([](auto& json) { json.erase("signature"); });
  text += "null\n{\n" + std::string(70'000, '[') + "\n";
  const auto read = from_file(text, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->experiences.size(), 1u);
  ASSERT_EQ(read->skipped.size(), 11u);
  EXPECT_EQ(read->skipped[0], "line 3: 'share' is not a number from 0 to 1");
  EXPECT_NE(read->skipped[5].find("choose one of: kernel, failure"), std::string::npos) << read->skipped[5];
}

TEST(MemoryFile, SourcesTravelAndMustBeWhatTheIdSays) {
  Experience written = made_up_kernel(kRows, "passes", 64, 1);
  written.recipe = {};
  set_source(written, "int kernel;\n");
  written.id = experience_id(written);
  const auto read = from_file(to_file({written}, {}), {});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->experiences.size(), 1u) << read->skipped[0];
  EXPECT_EQ(read->experiences[0].source, "int kernel;\n");
  auto json = nlohmann::json::parse(to_json(written));
  json["source"] = "another text";
  const auto changed = from_file(to_file({}, {}) + json.dump() + "\n", {});
  ASSERT_EQ(changed->skipped.size(), 1u);
  EXPECT_NE(changed->skipped[0].find("source_hash"), std::string::npos) << changed->skipped[0];
  set_source(written, std::string(25'000, 'x'));
  EXPECT_EQ(written.source, "") << "long texts are not kept";
  set_source(written, "\xff\xfe");
  EXPECT_EQ(written.source, "");
}

TEST(MemoryFile, FilesOfAnOlderKerfAreRead) {
  auto json = nlohmann::json::parse(to_json(made_up_kernel(kRows, "passes", 64, 1)));
  json.erase("source_hash");
  const auto read = from_file("{\"kind\":\"kerf memory\",\"schema\":1}\n" + json.dump() + "\n", {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->experiences.size(), 1u);
}

TEST(MemoryFile, OtherFilesAreRefused) {
  EXPECT_FALSE(from_file("", {}));
  EXPECT_FALSE(from_file("hello\n", {}));
  EXPECT_FALSE(from_file(R"({"kind": "kerf memory", "schema": 99})", {}));
}

TEST(MemoryFile, DamagedBytesNeverDoMoreThanSkipARecord) {
  const std::string text =
      to_file({made_up_kernel(kRows, "passes", 64, 1), made_up_kernel(kOther, "simd", 8, 0.5)}, {});
  Rng rng(5);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 4; ++i)
      damaged[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(text.size()) - 1))] =
          static_cast<char>(rng.integer(0, 255));
    const auto read = from_file(damaged, {});
    EXPECT_LE(read ? read->experiences.size() : 0, 2u);
  }
}

}  // namespace
}  // namespace kerf::memory
