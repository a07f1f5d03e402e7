#include "app/cli/output_path.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.hpp"

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

TEST_F(OutputPath, OnlyFilesOfTheSameKindAreReplaced) {
  const std::map<OutputKind, std::string> known{
      {OutputKind::exported_code,
       "/* Written by kerf export; a later export to this place replaces it. */\nint f();\n"},
      {OutputKind::report, "<!doctype html>\n<p>\n<a class=\"brand\" href=\"#summary\">kerf</a>\n"},
      {OutputKind::memory, "{\"kind\":\"kerf memory\",\"schema\":2}\n{}\n"},
      {OutputKind::skills, "{\"kind\":\"kerf skills\",\"schema\":1}\n"},
      {OutputKind::prompts, "{\"kind\":\"kerf prompts\",\"schema\":1}\n"},
      {OutputKind::traces, "{\"schema\":1,\"run\":\"r\",\"kerf_version\":\"1\",\"step\":1,\"mind\":\"llm\"}\n"},
      {OutputKind::kernel, "void f();"},
      {OutputKind::task, "name = \"a\""}};
  const fs::path file = folder_ / "there";
  for (const auto& [kind, text] : known)
    for (const auto& [present, content] : known) {
      std::ofstream(file) << content;
      const bool may = kind == present && kind != OutputKind::kernel && kind != OutputKind::task;
      EXPECT_EQ(check_output({file, kind}).has_value(), may) << static_cast<int>(kind) << " over " << content;
      EXPECT_EQ(write_output({file, kind}, "new").has_value(), may);
      EXPECT_EQ(*read_file(file), may ? "new" : content);
      std::ofstream(file) << content;
      EXPECT_TRUE(write_output({file, kind}, content)) << "nothing changes";
    }
  std::ofstream(file).flush();
  EXPECT_TRUE(write_output({file, OutputKind::kernel}, "new")) << "an empty file holds nothing";
  EXPECT_TRUE(write_output({folder_ / "a/b", OutputKind::task}, "new"));
  EXPECT_NE(why(check_output({folder_ / "file", OutputKind::report}))
                .find("does not show that 'kerf report' wrote it; choose another place, or remove it first"),
            std::string::npos);
}

TEST_F(OutputPath, NeitherInputsNorFilesOfARunAreReplaced) {
  std::ofstream(folder_ / "head") << "{\"kind\":\"kerf memory\",\"schema\":2}\n";
  fs::create_hard_link(folder_ / "head", folder_ / "same");
  const Status input = check_output({folder_ / "same", OutputKind::memory, {"", folder_ / "head"}});
  EXPECT_NE(why(input).find("the command reads this file"), std::string::npos) << why(input);
  std::ofstream(folder_ / "sub/kerf.db") << "x";
  for (const char* name : {"kerf.db", "kerf.db-wal", "kerf.lock", "run.toml", "events.jsonl", "best.cpp", "naive.cu"}) {
    EXPECT_EQ(why(check_output({folder_ / name, OutputKind::report})), "") << "no run: " << name;
    const Status kept = check_output({folder_ / "sub" / name, OutputKind::report});
    EXPECT_NE(why(kept).find("a run is kept in this file"), std::string::npos) << name << why(kept);
  }
  EXPECT_EQ(why(check_output({folder_ / "sub/report.html", OutputKind::report})), "");
  EXPECT_EQ(why(check_output({folder_ / "sub/best.html", OutputKind::report})), "");
}

TEST_F(OutputPath, ALinkStaysALink) {
  fs::create_symlink(folder_ / "sub/end", folder_ / "link");
  ASSERT_TRUE(write_output({folder_ / "link", OutputKind::task}, "text"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(folder_ / "sub/end"), "text");
  EXPECT_FALSE(write_output({folder_ / "link", OutputKind::task}, "other"));
}

}  // namespace
}  // namespace kerf::cli
