#include "bench/results.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "bench/bench_fixture.hpp"
#include "bench/page.hpp"

namespace kerf::bench {
namespace {

BenchState made_state() {
  BenchState state;
  state.facts.target = "made up";
  state.records = {test::good_record(1, 1, 2.5), test::failed_record(1, 2, Failure::timed_out, "import"),
                   test::good_record(2, 3, 0.5)};
  state.records[0].weak = {"zeros"};
  state.records[0].light = SpeedOfLight{100, 0.25, "memory"};
  state.records[1].message = "a\tmessage </script><script>alert(1)</script>\nof two lines";
  return state;
}

TEST(Record, ComesBackFromItsJson) {
  Record record = test::good_record(2, 17, 1.75);
  record.problem.setting = 3;
  record.problem.init = R"({"out":16})";
  record.problem.inputs = R"({"batch":2})";
  record.seed = 18446744073709551615ULL;
  record.over_naive = Speedup{"naive", 8, 7, 9};
  record.light = SpeedOfLight{12.5, 0.5, "compute"};
  record.kernelbench_correct = false;
  record.weak = {"zeros", "mean"};
  record.missing = {"grid_sample (line 3)"};
  record.share = 0.75;
  record.comparison = R"({"schema":1})";
  record.spent = {1, 2, 3, 4, 1 << 20};
  const auto back = record_from_json(to_json(record));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(record));
  EXPECT_EQ(back->seed, record.seed);
  EXPECT_EQ(back->problem.init, record.problem.init);
  EXPECT_EQ(back->kernelbench_correct, false);
  EXPECT_EQ(composition(*back), (std::vector<std::string>{"matmul/tiled", "row/block"}));
}

TEST(Record, WhatIsDamagedIsRefused) {
  const std::string text = to_json(test::good_record(1, 1, 2));
  EXPECT_FALSE(record_from_json(text.substr(0, text.size() / 2)));
  EXPECT_FALSE(record_from_json("{}"));
  EXPECT_FALSE(record_from_json("[]"));
  std::string other = text;
  other.replace(other.find("\"schema\":1"), 10, "\"schema\":9");
  EXPECT_FALSE(record_from_json(other));
}

TEST(Results, JsonHasScoresAndEveryProblem) {
  const auto json = nlohmann::json::parse(results_json(made_state()));
  EXPECT_EQ(json["schema"], 1);
  ASSERT_EQ(json["scores"].size(), 3u);
  EXPECT_EQ(json["scores"][2]["level"], "all");
  EXPECT_NEAR(json["scores"][2]["over_eager"]["fast_1"].get<double>(), 1.0 / 3, 1e-12);
  EXPECT_EQ(json["failures"]["timed_out"][0], "1/2");
  ASSERT_EQ(json["problems"].size(), 3u);
  EXPECT_EQ(json["problems"][0]["folder"], "level1/1_Made_up");
  EXPECT_EQ(json["problems"][0]["search"]["composition"][1], "row/block");
}

TEST(Results, TheTableHasAsManyFieldsInEveryLine) {
  const auto lines = split(results_tsv(made_state()), '\n');
  ASSERT_EQ(lines.size(), 5u) << "headings, three problems, the end";
  const auto fields = split(lines[0], '\t').size();
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) EXPECT_EQ(split(lines[i], '\t').size(), fields) << lines[i];
  EXPECT_NE(lines[1].find("\t2.5\t"), std::string::npos);
}

TEST(Results, ThePageIsClosedAndQuotesNothingAsMarkup) {
  const BenchState state = made_state();
  const std::string page = results_page(state, results_json(state));
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* remote : {"src=\"http", "href=\"http", "@import", "url("})
    EXPECT_EQ(page.find(remote), std::string::npos) << remote;
}

}  // namespace
}  // namespace kerf::bench
