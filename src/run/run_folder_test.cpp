#include "run/run_folder.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "store/run_store.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

class StartedFolderTest : public testing::Test {
 protected:
  StartedFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "kerf-folder-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~StartedFolderTest() override { fs::remove_all(root_); }
  fs::path root_;
};

TEST_F(StartedFolderTest, LeavesNothingBehindWhenTheStartFails) {
  {
    auto folder = StartedFolder::check(root_ / "runs" / "one");
    ASSERT_TRUE(folder);
    const auto run = create_run_store(root_ / "runs" / "one");
    ASSERT_TRUE(run);
    discard_run(**run);
  }
  EXPECT_FALSE(fs::exists(root_ / "runs"));
  EXPECT_TRUE(fs::exists(root_));
}

TEST_F(StartedFolderTest, KeepsAFolderThatWasThereAndParentsThatOthersUse) {
  fs::create_directories(root_ / "mine");
  {
    auto mine = StartedFolder::check(root_ / "mine");
    auto other = StartedFolder::check(root_ / "runs" / "one");
    ASSERT_TRUE(mine && other);
    const auto run = create_run_store(root_ / "mine");
    ASSERT_TRUE(run);
    discard_run(**run);
    ASSERT_TRUE(write_file_atomic(root_ / "runs" / "two" / "kerf.db", "x"));
  }
  EXPECT_TRUE(fs::exists(root_ / "mine"));
  EXPECT_TRUE(fs::is_empty(root_ / "mine"));
  EXPECT_TRUE(fs::exists(root_ / "runs" / "two" / "kerf.db"));
}

TEST_F(StartedFolderTest, LeavesTheRunOfAnotherAlone) {
  {
    auto late = StartedFolder::check(root_ / "one");  // both checked, then one was faster
    ASSERT_TRUE(late);
    const auto run = create_run_store(root_ / "one");
    ASSERT_TRUE(run);
    EXPECT_FALSE(create_run_store(root_ / "one"));
  }
  EXPECT_TRUE(fs::exists(root_ / "one" / "kerf.db"));
  EXPECT_TRUE(open_run_store(root_ / "one", RunStore::Access::write));
}

TEST_F(StartedFolderTest, FilesThatOthersPutThereStay) {
  const auto run = create_run_store(root_ / "one");
  ASSERT_TRUE(run);
  ASSERT_TRUE(write_file_atomic(root_ / "one" / "notes.txt", "x"));
  discard_run(**run);
  EXPECT_FALSE(fs::exists(root_ / "one" / "kerf.db"));
  EXPECT_TRUE(fs::exists(root_ / "one" / "notes.txt"));
}

TEST_F(StartedFolderTest, KeepsARunThatStarted) {
  {
    auto folder = StartedFolder::check(root_ / "one");
    ASSERT_TRUE(write_file_atomic(root_ / "one" / "kerf.db", "x"));
    folder->keep();
  }
  EXPECT_TRUE(fs::exists(root_ / "one" / "kerf.db"));
}

TEST_F(StartedFolderTest, RefusesAFolderInUseWithoutTouchingIt) {
  ASSERT_TRUE(write_file_atomic(root_ / "notes.txt", "x"));
  const auto refused = StartedFolder::check(root_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_input);
  EXPECT_NE(refused.error().message.find("notes.txt"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(root_ / "kerf.db", "x"));
  EXPECT_NE(StartedFolder::check(root_).error().message.find("--resume"), std::string::npos);
  EXPECT_FALSE(StartedFolder::check(root_ / "notes.txt"));
  EXPECT_FALSE(fs::exists(root_ / "kerf.lock"));
}

}  // namespace
}  // namespace kerf
