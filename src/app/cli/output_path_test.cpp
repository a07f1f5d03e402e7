#include "app/cli/output_path.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

class OutputPath : public testing::Test {
 protected:
  OutputPath() : folder_(fs::temp_directory_path() / ("kerf_output_path_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "sub");
    std::ofstream(folder_ / "file") << "x";
  }
  ~OutputPath() override { fs::remove_all(folder_); }

  static std::string why(const Status& status) { return status ? "" : status.error().message; }

  fs::path folder_;
};

TEST_F(OutputPath, PlacesThatCanBeWrittenAreFineAndLeftAsTheyAre) {
  EXPECT_EQ(why(check_output_file("")), "");
  EXPECT_EQ(why(check_output_file(folder_ / "new.html")), "");
  EXPECT_EQ(why(check_output_file(folder_ / "file")), "");
  EXPECT_EQ(why(check_output_file(folder_ / "a/b/c.html")), "");
  EXPECT_EQ(why(check_output_folder(folder_ / "a/b")), "");
  EXPECT_EQ(why(check_output_folder(folder_ / "sub")), "");
  EXPECT_EQ(why(check_output_file("/dev/null")), "");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_TRUE(fs::is_empty(folder_ / "sub"));
}

TEST_F(OutputPath, WhatIsInTheWayIsNamed) {
  const Status file = check_output_file(folder_ / "sub");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Errc::invalid_input);
  EXPECT_NE(why(file).find("it is a folder, not a file; choose another place"), std::string::npos) << why(file);
  for (const Status& status : {check_output_file(folder_ / "file/x/y.html"), check_output_folder(folder_ / "file"),
                               check_output_folder(folder_ / "file/x")})
    EXPECT_NE(why(status).find((folder_ / "file").string() + " is not a folder"), std::string::npos) << why(status);
}

TEST_F(OutputPath, NoFolderIsMadeAtTheTopOfTheFileSystem) {
  for (const Status& status : {check_output_file("/kerf_nonexistent/x"), check_output_file("/kerf_nonexistent/a/x"),
                               check_output_folder("/kerf_nonexistent/run")})
    EXPECT_NE(why(status).find("there is no folder /kerf_nonexistent, and none is made"), std::string::npos)
        << why(status);
  EXPECT_FALSE(fs::exists("/kerf_nonexistent"));
}

TEST_F(OutputPath, AFileSystemThatTakesNoFilesIsFoundOutByTrying) {
  EXPECT_NE(why(check_output_folder("/proc/kerf/run")).find("cannot write /proc/kerf/run"), std::string::npos);
  EXPECT_NE(why(check_output_file("/proc/x")).find("no files can be made in /proc;"), std::string::npos);
}

}  // namespace
}  // namespace kerf::cli
