#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "app/cli/cli.hpp"
#include "app/cli/run_config.hpp"
#include "app/cli/search_view.hpp"

namespace kerf::cli {
namespace {

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran kerf(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  const int code = run(args, Environment{}, console);
  return {code, out.str(), err.str()};
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::string task(const std::string& name) { return std::string(KERF_SOURCE_DIR) + "/tasks/" + name + ".toml"; }

TEST(Optimize, SaysWhatIsWrongWithItsArguments) {
  EXPECT_EQ(kerf({"optimize"}).code, kMisuse);
  EXPECT_HAS(kerf({"optimize"}).err, "give a TASK to optimize, or --resume a run");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--target", "cudda"}).err, "did you mean 'cuda'?");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--set", "search.patient=3"}).err, "did you mean 'search.patience'?");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--set", "BLOCK=3"}).err, "a search chooses tunables itself");
  EXPECT_HAS(kerf({"optimize", "no_such.toml"}).err, "there is no task file");
  EXPECT_EQ(kerf({"optimize", "--resume", "/no/such/run"}).code, kMisuse);
  EXPECT_EQ(kerf({"optimize", task("gelu"), "--evals", "-3"}).code, kMisuse);
}

TEST(Optimize, RefusesAnUnknownSearchBeforeAnythingIsMade) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "kerf_no_run";
  const auto ran = kerf({"optimize", task("gelu"), "--search", "randon", "--out", folder.string()});
  EXPECT_EQ(ran.code, kMisuse);
  EXPECT_HAS(ran.err, "did you mean 'random'?");
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(RunConfig, IsReadBackAsItWasWritten) {
  RunConfig config;
  config.target = "opencl";
  config.device = "opencl:1";
  config.search.search = "published";
  config.search.seed = ~std::uint64_t{0};
  config.search.evaluations = 33;
  config.search.seconds = 2.5;
  config.search.patience = 7;
  config.judge.measure.target_noise = 0.125;
  config.judge.measure.time_limit = std::chrono::milliseconds(77);
  const std::string text = to_toml(config, "gelu");
  const auto back = config_from_toml(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_toml(*back, "gelu"), text);
  EXPECT_EQ(back->search.seed, ~std::uint64_t{0});
  EXPECT_EQ(back->judge.measure.time_limit.count(), 77);
  EXPECT_FALSE(config_from_toml("seed = ["));
  EXPECT_FALSE(config_from_toml("target = \"cpu\""));
}

SearchProgress progress() {
  SearchProgress progress;
  progress.stage = "search";
  progress.evaluations = 40;
  progress.evaluation_limit = 100;
  progress.rate = 20;
  progress.seconds = 120;
  progress.cells = 9;
  progress.best_step = 31;
  progress.best_name = "row/vector";
  progress.best = Speedup{"naive", 7.91, 7.7, 8.15};
  progress.speed_of_light = SpeedOfLight{5, 0.64, "memory"};
  return progress;
}

TEST(SearchView, TellsWhatIsLeftOfTheSmallerBudget) {
  SearchProgress p = progress();
  EXPECT_DOUBLE_EQ(seconds_left(p), 180);
  p.time_limit = 150;
  EXPECT_DOUBLE_EQ(seconds_left(p), 30);
  p = {};
  EXPECT_LT(seconds_left(p), 0);
}

TEST(SearchView, ShowsTheStateInAFewLines) {
  const std::string block = progress_block(progress(), "rmsnorm on cpu", "step 41 parameter: g0 BLOCK 1 -> 2", {});
  EXPECT_HAS(block, "40 of 100 evaluations, 20.0 a minute");
  EXPECT_HAS(block, "7.91x (7.70x to 8.15x) vs naive, 64 % of the speed of light, step 31 row/vector");
  EXPECT_HAS(block, "9 of 64 cells");
  EXPECT_HAS(block, "g0 BLOCK 1 -> 2");
  EXPECT_LE(std::count(block.begin(), block.end(), '\n'), 6);
}

TEST(SearchView, RedrawsOnlyOnTerminals) {
  for (const bool live : {false, true}) {
    std::ostringstream out, err;
    Console console{out, err, {}, {}};
    {
      SearchView view(console, "rmsnorm on cpu", live);
      Step step;
      step.number = 41;
      step.operation = "parameter";
      step.name = "row/vector";
      step.evaluation.outcome = Rejected{"static", "no"};
      step.decision = "not kept: \x1b[31mred";
      view.on_event(CandidateStarted{step, progress()});
      view.on_event(StepFinished{step, progress()});
    }
    EXPECT_EQ(err.str().find("\x1b[5A") != std::string::npos, live) << err.str();
    EXPECT_EQ(err.str().find("\x1b[31m"), std::string::npos) << "a kernel's words do not drive the terminal";
    EXPECT_TRUE(out.str().empty());
  }
}

}  // namespace
}  // namespace kerf::cli
