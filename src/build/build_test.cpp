#include "build/build.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/hash.hpp"
#include "language/fake_language.hpp"

namespace kerf {
namespace {

class BuildCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("kerf_build_test_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  FakeLanguage language_;
  BuildCacheTest() {
    language_.kind = ArtifactKind::opencl_ptx;
    language_.facts.kernels.push_back({"k", 12, 34, 0, 256});
  }
};

TEST_F(BuildCacheTest, TheSameRequestCompilesOnceEvenInANewProcess) {
  const CompileRequest request{"src", {{"n", 4}}, "a", {"k"}, std::chrono::seconds(1)};
  BuildCache first(folder_);
  ASSERT_TRUE(first.compile(language_, request));
  ASSERT_TRUE(first.compile(language_, request));
  BuildCache second(folder_);  // as after a restart
  const auto again = second.compile(language_, request);
  ASSERT_TRUE(again);
  EXPECT_EQ(language_.compiles(), 1);
  EXPECT_EQ(std::get<Artifact>(*again).kind, ArtifactKind::opencl_ptx);
  EXPECT_EQ(std::get<Artifact>(*again).facts.kernels.at(0).registers, 12);
  EXPECT_EQ(std::get<Artifact>(*again).bytes, std::string("n=4\n\0src", 8));
}

TEST_F(BuildCacheTest, ConstantsArchitectureAndCompilerVersionArePartOfTheKey) {
  BuildCache cache(folder_);
  CompileRequest request{"src", {{"n", 4}}, "a", {}, std::chrono::seconds(1)};
  (void)cache.compile(language_, request);
  request.constants["n"] = 5;
  (void)cache.compile(language_, request);
  request.arch = "b";
  (void)cache.compile(language_, request);
  language_.version_text = "2";
  (void)cache.compile(language_, request);
  EXPECT_EQ(language_.compiles(), 4);
}

TEST_F(BuildCacheTest, ADamagedFileIsCompiledAgain) {
  const CompileRequest request{"src", {}, "a", {}, std::chrono::seconds(1)};
  {
    BuildCache cache(folder_);
    (void)cache.compile(language_, request);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::app) << "x";
  BuildCache cache(folder_);
  const auto outcome = cache.compile(language_, request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(language_.compiles(), 2);
  EXPECT_EQ(sha256_hex(std::get<Artifact>(*outcome).bytes), std::get<Artifact>(*outcome).id);
}

TEST_F(BuildCacheTest, WhatIsBeingCompiledIsWaitedForAndNotCompiledTwice) {
  const CompileRequest request{"src", {}, "a", {}, std::chrono::seconds(1)};
  BuildCache cache({});
  std::jthread other;
  language_.meanwhile = [&] {
    other = std::jthread([&] { EXPECT_TRUE(std::holds_alternative<Artifact>(*cache.compile(language_, request))); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  EXPECT_TRUE(std::holds_alternative<Artifact>(*cache.compile(language_, request)));
  other.join();
  EXPECT_EQ(language_.compiles(), 1);
}

TEST_F(BuildCacheTest, FailuresAreRememberedInTheProcessOnly) {
  language_.fails = true;
  const CompileRequest request{"src", {}, "a", {}, std::chrono::seconds(1)};
  BuildCache cache(folder_);
  (void)cache.compile(language_, request);
  (void)cache.compile(language_, request);
  EXPECT_EQ(language_.compiles(), 1);
  BuildCache later(folder_);
  (void)later.compile(language_, request);
  EXPECT_EQ(language_.compiles(), 2);
}

TEST_F(BuildCacheTest, AFolderThatCannotBeWrittenCostsNothingButTheNextStart) {
  std::ofstream(folder_) << "a file where the folder should be";
  const CompileRequest request{"src", {}, "a", {}, std::chrono::seconds(1)};
  BuildCache cache(folder_ / "builds");
  EXPECT_EQ(cache.write_error(), "");
  EXPECT_TRUE(std::holds_alternative<Artifact>(*cache.compile(language_, request)));
  EXPECT_TRUE(std::holds_alternative<Artifact>(*cache.compile(language_, request)));
  EXPECT_EQ(language_.compiles(), 1);
  EXPECT_NE(cache.write_error().find(folder_.string()), std::string::npos) << cache.write_error();
}

}  // namespace
}  // namespace kerf
