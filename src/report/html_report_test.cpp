#include "report/html_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "report/fixture_run.hpp"
#include "report/report_data.hpp"

namespace kerf::report {
namespace {

namespace fs = std::filesystem;

class HtmlReport : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "kerf-html-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    ASSERT_TRUE(write_fixture_run(root_ / "run", {}));
    run_ = new RunView(load_run(root_ / "run").value());
    page_ = html_report(*run_, {{"wide", 8e5, 4e5}});
  }
  static void TearDownTestSuite() {
    delete run_;
    fs::remove_all(root_);
  }
  /// What stands between two markers, from the last place where `from` occurs.
  static std::string between(const std::string& from, const std::string& to) {
    const auto begin = page_.rfind(from) + from.size();
    return page_.substr(begin, page_.find(to, begin) - begin);
  }
  static inline fs::path root_;
  static inline RunView* run_ = nullptr;
  static inline std::string page_;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(HtmlReport, KernelTextCannotLeaveItsPlace) {
  EXPECT_EQ(occurrences(page_, "</script>"), 2u) << "one for the data, one for the code";
  EXPECT_EQ(page_.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page_.find("<img src=x"), std::string::npos);
}

TEST_F(HtmlReport, ModelsAndPromptsAreThereWhereSomeWereAsked) {
  const auto without = nlohmann::json::parse(report_data(*run_, {}, 1 << 20));
  EXPECT_TRUE(without["models"].empty());
  EXPECT_TRUE(without["prompts"].empty());
  RunView run = *run_;
  run.steps[0].provenance = {"writer", "draft-0-pabc", {"experience:aa"}, 100, 20, 0.5, 3};
  run.steps[1].provenance.prompt = "draft-0";
  EXPECT_TRUE(without["conversations"].empty());
  run.conversations[1] = {{"policy", "writer", "draft-0", 1, {{"user", "q </script>"}}, "a", "", "reply", 9, 4, 0, 1}};
  const auto with = nlohmann::json::parse(report_data(run, {}, 1 << 20));
  ASSERT_EQ(with["models"].size(), 1u);
  EXPECT_EQ(with["models"][0]["model"], "writer");
  EXPECT_EQ(with["models"][0]["tokens"], 120);
  ASSERT_EQ(with["conversations"].size(), 1u);
  EXPECT_EQ(with["conversations"][0]["turns"][0]["messages"][0]["content"], "q </script>");
  EXPECT_EQ(html_report(run, {}).find("q </script>"), std::string::npos);
  ASSERT_EQ(with["known"].size(), 1u);
  EXPECT_EQ(with["known"][0]["id"], "experience:aa");
  EXPECT_EQ(with["known"][0]["moves"].size(), 1u);
  ASSERT_EQ(with["arms"].size(), 2u) << "answers with and without";
  EXPECT_GE(with["minds"].size(), 1u);
  ASSERT_EQ(with["prompts"].size(), 1u);
  EXPECT_EQ(with["prompts"][0]["variant"], "pabc");
  EXPECT_EQ(with["prompts"][0]["answers"], 1);
  ASSERT_EQ(with["prompts"][0]["moves"].size(), 1u) << "its credit over the run";
  EXPECT_EQ(with["prompts"][0]["moves"][0][0], 1);
}

TEST_F(HtmlReport, TheDataReadBackIsTheRun) {
  const auto data = nlohmann::json::parse(between("id=\"data\">", "</script>"));
  ASSERT_EQ(data["steps"].size(), run_->steps.size());
  for (const Step& step : run_->steps) {
    const auto& one = data["steps"][static_cast<std::size_t>(step.number) - 1];
    EXPECT_EQ(one["n"], step.number);
    const int source = one["source"].get<int>();
    ASSERT_GE(source, 0);
    if (step.source.find('\xff') == std::string::npos) {
      EXPECT_EQ(data["sources"][static_cast<std::size_t>(source)], step.source);
    }
  }
  EXPECT_EQ(data["best"], run_->best);
  EXPECT_EQ(data["costs"][0]["shape"], "wide");
  EXPECT_EQ(data["diffs"][std::to_string(run_->best)]["parent"], run_->step(run_->best).parents[0]);
}

TEST_F(HtmlReport, OnlyItsOwnScriptAndStyleAreAllowed) {
  EXPECT_NE(page_.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page_.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(page_.find("$TITLE"), std::string::npos) << "no value is left out";
  for (const char* remote : {"src=\"http", "href=\"http", "@import", "url("})
    EXPECT_EQ(page_.find(remote), std::string::npos) << remote;
}

TEST_F(HtmlReport, SourcesBeyondTheBudgetAreLeftOutButNeverTheAncestors) {
  const auto data = nlohmann::json::parse(report_data(*run_, {}, 0));
  for (const std::int64_t member : ancestors_of(*run_, run_->best))
    EXPECT_GE(data["steps"][static_cast<std::size_t>(member) - 1]["source"].get<int>(), 0);
  int missing = 0;
  for (const auto& step : data["steps"]) missing += step["source"].get<int>() < 0 ? 1 : 0;
  EXPECT_GT(missing, 0);
}

TEST_F(HtmlReport, ARunWithoutStepsStillHasAPage) {
  {
    create_run_store(root_ / "empty").value();
  }
  const auto empty = load_run(root_ / "empty").value();
  EXPECT_NE(html_report(empty, {}).find("nothing was measured yet"), std::string::npos);
}

}  // namespace
}  // namespace kerf::report
