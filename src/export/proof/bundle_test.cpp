#include "export/proof/bundle.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/file.hpp"
#include "base/hash.hpp"

namespace kerf::exporting {
namespace {

namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    std::string pattern = (fs::temp_directory_path() / "kerf-bundle-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    EXPECT_TRUE(write_file_atomic(root_ / "a", "text"));
    EXPECT_TRUE(write_file_atomic(root_ / "task/b", "more"));
  }
  ~BundleTest() override { fs::remove_all(root_); }

  std::string refusal() const {
    const auto read = read_bundle(root_);
    return read ? "accepted" : read.error().message;
  }
  std::string with_manifest(const std::string& text) const {
    EXPECT_TRUE(write_file_atomic(root_ / kManifest, text));
    const auto read = read_bundle(root_);
    const Status status = check_manifest(root_, read.value());
    return status ? "accepted" : status.error().message;
  }
  static std::string line(const std::string& path, const std::string& text) {
    return sha256_hex(text) + "  " + path + "\n";
  }

  fs::path root_;
};

TEST_F(BundleTest, FilesAreReadByTheirPaths) {
  const auto read = read_bundle(root_);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::map<std::string, std::string>{{"a", "text"}, {"task/b", "more"}}));
  EXPECT_EQ(with_manifest(line("a", "text") + line("task/b", "more")), "accepted");
}

TEST_F(BundleTest, LinksPipesAndEmptyFoldersAreRefused) {
  fs::create_symlink("a", root_ / "link");
  EXPECT_HAS(refusal(), "link is not a regular file");
  fs::remove(root_ / "link");
  fs::create_directory_symlink("task", root_ / "folder");
  EXPECT_HAS(refusal(), "folder is not a regular file");
  fs::remove(root_ / "folder");
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_HAS(refusal(), "pipe is not a regular file");
  fs::remove(root_ / "pipe");
  fs::create_directories(root_ / "task/empty");
  EXPECT_HAS(refusal(), "the folder task/empty is empty");
}

TEST_F(BundleTest, HugeDeepAndManyFilesAreRefused) {
  std::ofstream(root_ / "huge").put('x');
  fs::resize_file(root_ / "huge", kMaxBundleBytes + 1);
  EXPECT_HAS(refusal(), "take more than 64 MiB");
  fs::remove(root_ / "huge");
  fs::path deep = root_;
  for (int i = 0; i <= kMaxBundleDepth; ++i) deep /= "d";
  ASSERT_TRUE(write_file_atomic(deep / "x", ""));
  EXPECT_HAS(refusal(), "nested too deeply");
  fs::remove_all(root_ / "d");
  for (std::size_t i = 0; i < kMaxBundleFiles; ++i) std::ofstream(root_ / ("f" + std::to_string(i)));
  EXPECT_HAS(refusal(), "more than 256 files");
}

TEST_F(BundleTest, ManifestsThatLeadElsewhereAreRefused) {
  const std::string good = line("a", "text") + line("task/b", "more");
  for (const char* path : {"../a", "/etc/passwd", "./a", "task/../a", "task//b", "a\r", "a\u202e"})
    EXPECT_HAS(with_manifest(good + line(path, "text")), "is no line of it") << path;
  EXPECT_HAS(with_manifest(good + line("a", "text")), "is no line of it") << "twice";
  EXPECT_HAS(with_manifest(good + std::string(64, 'z') + "  c\n"), "is no line of it");
  EXPECT_HAS(with_manifest(line("a", "text")), "task/b was added");
  EXPECT_HAS(with_manifest(good + line("c", "")), "c is missing");
  EXPECT_HAS(with_manifest(line("a", "other") + line("task/b", "more")), "a was changed");
}

TEST(PlaceInBundle, IsInsideOfTheTasksFolder) {
  EXPECT_EQ(place_in_bundle("./ref/a.cpp").value(), "task/ref/a.cpp");
  for (const char* name : {"", "/etc/passwd", "../x", "a/../../x", "x/"}) EXPECT_FALSE(place_in_bundle(name)) << name;
  EXPECT_TRUE(check_places(R"({"a.cpp": "x"})"));
  EXPECT_FALSE(check_places(R"({"task.toml": "x"})"));
  EXPECT_FALSE(check_places(R"({"a.cpp": 1})"));
  EXPECT_FALSE(check_places("[]"));
}

}  // namespace
}  // namespace kerf::exporting
