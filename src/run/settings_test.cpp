#include "run/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file.hpp"
#include "base/test_paths.hpp"

namespace kerf {
namespace {

std::string message(const std::string& text) {
  JudgeOptions judge;
  SearchOptions search;
  const auto status = apply_settings(parse_settings({text}).value(), judge, &search);
  return status ? "" : status.error().message;
}

TEST(Settings, SplitsTunablesFromSettings) {
  const auto settings = parse_settings({"BLOCK=256", "measure.max_rounds = 20"});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->tunables, (Bindings{{"BLOCK", 256}}));
  ASSERT_EQ(settings->options.size(), 1u);
  EXPECT_EQ(settings->options[0].second, "20");
  EXPECT_FALSE(parse_settings({"BLOCK=two"}));
  EXPECT_FALSE(parse_settings({"BLOCK=1", "BLOCK=2"}));
}

TEST(Settings, AreWrittenWhereTheyBelong) {
  JudgeOptions judge;
  SearchOptions search;
  const auto given =
      parse_settings({"measure.time_limit_ms=77", "search.keep=5", "measure.target_noise=0.125"}).value();
  ASSERT_TRUE(apply_settings(given, judge, &search));
  EXPECT_EQ(judge.measure.time_limit.count(), 77);
  EXPECT_EQ(search.archive.keep, 5);
  EXPECT_EQ(judge.measure.target_noise, 0.125);
  const auto values = effective_settings(judge, search);
  const auto value_of = [&](const std::string& name) {
    return std::find_if(values.begin(), values.end(), [&](const auto& one) { return one.first == name; })->second;
  };
  EXPECT_EQ(value_of("search.keep"), 5);
  EXPECT_EQ(value_of("measure.time_limit_ms"), 77);
}

TEST(Settings, RefuseWhatIsOutOfRangeBrokenOrUnknown) {
  EXPECT_NE(message("measure.max_rounds=0").find("expected a number (whole, 1 to 1000000)"), std::string::npos);
  EXPECT_NE(message("measure.max_rounds=2.5"), "");
  EXPECT_NE(message("measure.target_noise=nan"), "");
  EXPECT_NE(message("search.patience=-1").find("at least 0"), std::string::npos);
  EXPECT_NE(message("search.patient=3").find("did you mean 'search.patience'?"), std::string::npos);
  JudgeOptions judge;
  const auto no_search = apply_settings(parse_settings({"search.patience=3"}).value(), judge);
  ASSERT_FALSE(no_search);
  EXPECT_EQ(no_search.error().message.find("search.starts"), std::string::npos) << no_search.error().message;
}

TEST(Settings, HaveNamesOfTheirOwnHelpAndADefaultInRange) {
  std::set<std::string> names;
  for (const SettingFacts& one : all_settings()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.help.empty()) << one.name;
    EXPECT_GE(one.usual, one.least) << one.name;
    EXPECT_LE(one.usual, one.most) << one.name;
    EXPECT_EQ(one.in_key, !one.name.starts_with("search.")) << one.name;
  }
}

TEST(Settings, AreDocumentedAsTheyAre) {
  const auto page = read_file(source_folder() / "docs/settings.md");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(*page, settings_markdown()) << "kerf settings --markdown > docs/settings.md";
}

}  // namespace
}  // namespace kerf
