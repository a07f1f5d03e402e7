#include "store/find_run.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace kerf {
namespace {

namespace fs = std::filesystem;

class FindRun : public testing::Test {
 protected:
  FindRun() {
    std::string pattern = (fs::temp_directory_path() / "kerf-runs-XXXXXX").string();
    runs_ = ::mkdtemp(pattern.data());
    for (const char* name :
         {"softmax-cpu-20260101-120000", "softmax-cuda-20260101-120000", "rmsnorm-cpu-1", "rmsnorm-cpu-12"}) {
      fs::create_directories(runs_ / name);
      std::ofstream(runs_ / name / "kerf.db").flush();
    }
    fs::create_directories(runs_ / "softmax-notes");
  }
  ~FindRun() override { fs::remove_all(runs_); }
  std::string message(const std::string& name) { return find_run(name, runs_).error().message; }
  fs::path runs_;
};

TEST_F(FindRun, TakesAFolderANameOrAUniqueBeginning) {
  EXPECT_EQ(find_run((runs_ / "rmsnorm-cpu-1").string(), "elsewhere").value(), runs_ / "rmsnorm-cpu-1");
  EXPECT_EQ(find_run("softmax-cu", runs_).value(), runs_ / "softmax-cuda-20260101-120000");
  EXPECT_EQ(find_run("rmsnorm-cpu-1", runs_).value(), runs_ / "rmsnorm-cpu-1") << "a whole name beats a beginning";
}

TEST_F(FindRun, RunsOfACampaignAreFoundByTheirNames) {
  for (const char* name : {"camp/swiglu-cpu", "camp/softmax-cpu", "other/swiglu-cpu"}) {
    fs::create_directories(runs_ / name);
    std::ofstream(runs_ / name / "kerf.db").flush();
  }
  EXPECT_FALSE(find_run("camp/swiglu-cpu", runs_)) << "not a campaign's folder";
  std::ofstream(runs_ / "camp" / kCampaignFile).flush();
  EXPECT_EQ(find_run("camp/swiglu-cpu", runs_).value(), runs_ / "camp" / "swiglu-cpu");
  EXPECT_EQ(find_run("camp/sw", runs_).value(), runs_ / "camp" / "swiglu-cpu");
  EXPECT_EQ(find_run("swiglu", runs_).value(), runs_ / "camp" / "swiglu-cpu");
  EXPECT_NE(message("camp").find("camp/softmax-cpu, camp/swiglu-cpu"), std::string::npos) << message("camp");
}

TEST_F(FindRun, ABeginningOfSeveralListsThem) {
  EXPECT_EQ(find_run("softmax", runs_).error().code, Errc::invalid_input);
  EXPECT_NE(message("softmax").find("softmax-cpu-20260101-120000, softmax-cuda-20260101-120000"), std::string::npos);
  EXPECT_EQ(message("softmax").find("notes"), std::string::npos);
}

TEST_F(FindRun, AMisspeltNameGetsTheNearestRun) {
  EXPECT_EQ(find_run("sofmax-cuda", runs_).error().code, Errc::not_found);
  EXPECT_NE(message("sofmax-cuda").find("did you mean 'softmax-cuda-20260101-120000'"), std::string::npos)
      << message("sofmax-cuda");
  EXPECT_NE(message((runs_ / "softmax-notes").string()).find("holds no run"), std::string::npos);
  EXPECT_NE(find_run("x", runs_ / "none").error().message.find("kerf optimize"), std::string::npos);
  EXPECT_FALSE(find_run("", runs_));
}

}  // namespace
}  // namespace kerf
