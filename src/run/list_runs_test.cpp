#include "run/list_runs.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "report/fixture_run.hpp"
#include "store/run_store.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

TEST(ListRuns, ARunThatNobodyWorksOnAndThatDidNotFinishWasInterrupted) {
  std::string pattern = (fs::temp_directory_path() / "kerf-list-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  ASSERT_TRUE(report::write_fixture_run(root / "cut", {"cpu", 30, 1, false, true}));
  const auto runs = list_runs(root);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].state, RunState::unfinished);
  EXPECT_EQ(runs[0].ended, "interrupted");
  EXPECT_FALSE(is_running(root / "cut"));
  fs::remove_all(root);
}

TEST(ListRuns, RunsOfACampaignAreListed) {
  std::string pattern = (fs::temp_directory_path() / "kerf-list-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  ASSERT_TRUE(report::write_fixture_run(root / "camp" / "rmsnorm-cpu", {"cpu", 30, 1, true, true}));
  EXPECT_TRUE(list_runs(root).empty()) << "not a campaign's folder";
  ASSERT_TRUE(write_file_atomic(root / "camp" / "campaign.json", "{}"));
  const auto runs = list_runs(root);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].folder, root / "camp" / "rmsnorm-cpu");
  fs::remove_all(root);
}

TEST(ListRuns, TellsTaskTargetBestAndState) {
  std::string pattern = (fs::temp_directory_path() / "kerf-list-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  EXPECT_TRUE(list_runs(root / "nowhere").empty());
  ASSERT_TRUE(report::write_fixture_run(root / "done", {"cpu", 30, 1, true, true}));
  ASSERT_TRUE(report::write_fixture_run(root / "cut", {"cuda", 30, 1, false, true}));
  ASSERT_TRUE(write_file_atomic(root / "broken" / "kerf.db", "not a database"));
  fs::create_directories(root / "notes");
  const auto writer = open_run_store(root / "cut", RunStore::Access::write).value();
  int seen = 0;
  for (const RunEntry& entry : list_runs(root)) {
    const std::string name = entry.folder.filename().string();
    ++seen;
    EXPECT_EQ(entry.state, name == "done"     ? RunState::finished
                           : name == "broken" ? RunState::damaged
                                              : RunState::running)
        << name;
    EXPECT_EQ(entry.ended.empty(), name == "cut");
    if (name == "broken") continue;
    EXPECT_EQ(entry.task, "rmsnorm");
    EXPECT_EQ(entry.target, name == "done" ? "cpu" : "cuda");
    ASSERT_TRUE(entry.best);
    EXPECT_GT(entry.best->ratio, 1);
    EXPECT_GT(entry.changed_ms, 0);
  }
  EXPECT_EQ(seen, 3);
  fs::remove_all(root);
}

}  // namespace
}  // namespace kerf
