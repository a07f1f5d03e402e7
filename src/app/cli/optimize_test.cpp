#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "app/cli/cli.hpp"
#include "app/cli/search_view.hpp"
#include "base/test_paths.hpp"

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

std::string task(const std::string& name) { return (source_folder() / ("tasks/" + name + ".toml")).string(); }

TEST(Optimize, SaysWhatIsWrongWithItsArguments) {
  EXPECT_EQ(kerf({"optimize"}).code, kMisuse);
  EXPECT_HAS(kerf({"optimize"}).err, "give a TASK to optimize, --resume a run or --replay one");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--target", "cudda"}).err, "did you mean 'cuda'?");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--set", "search.patient=3"}).err, "did you mean 'search.patience'?");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--set", "BLOCK=3"}).err, "a search chooses tunables itself");
  EXPECT_HAS(kerf({"optimize", "no_such.toml"}).err, "there is no task file");
  EXPECT_EQ(kerf({"optimize", "--resume", "/no/such/run"}).code, kMisuse);
  EXPECT_EQ(kerf({"optimize", task("gelu"), "--evals", "-3"}).code, kMisuse);
  for (const char* time : {"0", "-1", "nan", "soon", "inf", "1e300"})
    EXPECT_HAS(kerf({"optimize", task("gelu"), "--time", time}).err,
               "expected seconds, more than 0 and at most 1000000000");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--max-cost", "nan"}).err, "expected an amount, more than 0");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--out", ""}).err, "--out has an empty value");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--mind="}).err, "--mind has an empty value");
  EXPECT_HAS(kerf({"optimize", ""}).err, "there is an empty argument");
  EXPECT_HAS(kerf({"optimize", "--resume", "/no/such/run", "--search", "random"}).err, "--search belongs to a new run");
  EXPECT_HAS(kerf({"eval", task("gelu"), "k.cpp", "--strict", "--at-least", "nan"}).err, "expected a ratio");
  for (const char* seed : {"-1", "1.5", "18446744073709551616", "x"})
    EXPECT_HAS(kerf({"optimize", task("gelu"), "--seed", seed}).err, "expected a whole number from 0");
}

TEST(Optimize, RefusesAnUnknownSearchBeforeAnythingIsMade) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "kerf_no_run";
  const auto ran = kerf({"optimize", task("gelu"), "--search", "randon", "--out", folder.string()});
  EXPECT_EQ(ran.code, kMisuse);
  EXPECT_HAS(ran.err, "did you mean 'random'?");
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Optimize, LeavesNothingBehindWhenItCannotStart) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "kerf_failed_start" / "run";
  const auto ran = kerf({"optimize", task("gelu"), "--device", "cpu:77", "--out", folder.string()});
  EXPECT_NE(ran.code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.parent_path())) << ran.err;
}

SearchProgress progress() {
  SearchProgress progress;
  progress.stage = Stage::search;
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
  const std::string block = progress_block(progress(), "rmsnorm on cpu", "step 41 parameter: g0 BLOCK 1 -> 2", 200, {});
  EXPECT_HAS(block, "40 of 100 evaluations, 20.0 a minute");
  EXPECT_HAS(block, "7.91x (7.70x to 8.15x) vs naive, 64 % of the speed of light, step 31 row/vector");
  EXPECT_HAS(block, "9 of 64 cells");
  EXPECT_HAS(block, "g0 BLOCK 1 -> 2");
  EXPECT_LE(std::count(block.begin(), block.end(), '\n'), 6);
}

TEST(SearchView, WhatDoesNotFitIsLeftOutWhole) {
  const std::string block = progress_block(progress(), "rmsnorm on cpu", "", 84, {});
  EXPECT_HAS(block, "7.91x (7.70x to 8.15x) vs naive, 64 % of the speed of light, step 31");
  const std::string narrow = progress_block(progress(), "rmsnorm on cpu", "", 70, {});
  EXPECT_HAS(narrow, "7.91x (7.70x to 8.15x) vs naive, step 31 row/vector");
}

TEST(SearchView, NoLineOfTheBlockIsWiderThanTheTerminal) {
  const std::string long_text(300, 'x');
  SearchProgress p = progress();
  p.best_name = long_text;
  for (const std::size_t columns : {20u, 40u, 79u}) {
    std::istringstream block(progress_block(p, "task \u00e4 " + long_text, long_text, columns, {}));
    int lines = 0;
    for (std::string line; std::getline(block, line); ++lines) EXPECT_LE(line.size(), columns + 1) << line;
    EXPECT_EQ(lines, 5);
  }
}

TEST(SearchView, ShowsWhatModelsDoAndWhatIsLeftOfTheirBudget) {
  SearchProgress p = progress();
  EXPECT_EQ(spending_text(p), "");
  p.spending = {3210, 20000, 0.01234, 1, {}};
  EXPECT_EQ(spending_text(p), "3210 of 20000 tokens, 0.0123 of 1 USD");
  p.asking = 1;
  p.asked = "llm: refine";
  EXPECT_HAS(progress_block(p, "", "", 200, {}), "asking llm: refine; 3210 of 20000 tokens, 0.0123 of 1 USD");
  p.spending = {3210, 0, 0, 0, {}};
  EXPECT_EQ(spending_text(p), "asking llm: refine; 3210 tokens");
  p.asking = 3;
  p.asked_seconds = 75;
  EXPECT_EQ(spending_text(p), "asking llm: refine and 2 more, for 75 s; 3210 tokens");
}

TEST(SearchView, SaysWhichFinalistIsMeasured) {
  SearchProgress p = progress();
  p.time_limit = 100;
  p.stage = Stage::final;
  p.confirmed = 1;
  p.finalists = 3;
  const std::string block = progress_block(p, "rmsnorm on cpu", "step 41 confirm", 100, {});
  EXPECT_HAS(block, "measuring finalist 2 of 3");
  EXPECT_EQ(block.find(" left"), std::string::npos) << block;
  p.stage = Stage::search;
  EXPECT_HAS(progress_block(p, "", "", 100, {}), "ends with this kernel");
}

Step refused_step() {
  Step step;
  step.number = 41;
  step.operation = "parameter";
  step.name = "row/vector";
  step.evaluation.outcome = Rejected{Gate::static_budget, "no"};
  step.decision = "not kept: \x1b[31mred";
  return step;
}

Step kept_step() {
  Step step = refused_step();
  Measurement measurement;
  measurement.speedup = {"naive", 7.91, 7.7, 8.15};
  step.evaluation.outcome = measurement;
  step.kept = true;
  step.decision = "kept: 1.31 times step 12 (1.24 to 1.38), which it replaces in a cell with a long description of it";
  return step;
}

StepFinished kept() { return {kept_step(), {}, {"naive", 7.91, 7.7, 8.15}}; }

TEST(StepLine, SaysTheDecisionFirstWithinAHundredColumns) {
  const std::string line = step_line(kept(), {});
  EXPECT_EQ(line.find("   41  kept            7.91x (7.70x to 8.15x)"), 0u) << line;
  EXPECT_HAS(line, "parameter row/vector: 1.31 times step 12");
  EXPECT_LE(line.size(), kStepLineColumns + 1);
  EXPECT_LE(step_line(kept(), {}, 60).size(), 61u);
  const std::string refused = step_line({refused_step(), {}}, {});
  EXPECT_EQ(refused.find("   41  rejected        static_budget"), 0u) << refused;
  EXPECT_LE(refused.size(), kStepLineColumns + 1);
}

TEST(StepLine, TheReasonDoesNotSayAgainWhatTheLineHasSaid) {
  const auto line = [](Step step, const std::string& decision) {
    step.decision = decision;
    step.cell = {3, 2, 1};
    return step_line({step, {}}, {});
  };
  EXPECT_HAS(line(kept_step(), "kept: the first in cell memory 3, compute 2, parallelism 1"),
             "row/vector: new cell 3/2/1\n");
  EXPECT_HAS(line(kept_step(),
                  "kept: 0.926 times as fast (0.63 to 1.71) as step 1, timed in turn, the first in cell "
                  "memory 3, compute 2, parallelism 1"),
             "row/vector: 0.926x step 1, new cell 3/2/1\n");
  EXPECT_HAS(line(kept_step(),
                  "kept: 1.06 times as fast (0.388 to 3.51) as step 3, the best of its cell, which has "
                  "room for 3"),
             "row/vector: 1.06x step 3, one of up to 3\n");
  EXPECT_HAS(line(kept_step(),
                  "measured again, thoroughly and on fresh data; 0.839 times as fast (0.726 to 0.911) as "
                  "step 7"),
             "row/vector: 0.839x step 7\n");
  EXPECT_HAS(line(refused_step(), "not kept: rejected at gate 'static_budget': 300 registers"),
             "row/vector: 300 registers\n");
}

/// What a terminal of `columns` shows after `bytes`: lines wrap, the cursor moves up, what is below it is erased.
std::vector<std::string> screen_after(const std::string& bytes, std::size_t columns) {
  std::vector<std::string> rows{""};
  std::size_t y = 0, x = 0;
  const auto at = [&]() -> std::string& {
    if (rows.size() <= y) rows.resize(y + 1);
    return rows[y];
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n')
      ++y, x = 0, at();
    else if (bytes[i] == '\r')
      x = 0;
    else if (bytes.compare(i, 2, "\x1b[") == 0) {
      std::size_t end = i + 2, number = 0;
      for (; std::isdigit(static_cast<unsigned char>(bytes[end])) != 0; ++end)
        number = number * 10 + static_cast<std::size_t>(bytes[end] - '0');
      if (bytes[end] == 'A') y -= std::min(y, number);
      if (bytes[end] == 'J') rows.resize(y + 1), at().resize(x);
      i = end;
    } else {
      if (x == columns) ++y, x = 0;
      at().resize(std::max(at().size(), x + 1), ' ');
      at()[x++] = bytes[i];
    }
  }
  return rows;
}

TEST(SearchView, LeavesOneBlockOnANarrowTerminal) {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  SearchView view(console, Screen{true, [] { return 80; }});
  view.on_event(RunMark{"started", {{"task", "rmsnorm"}, {"target", "cpu"}, {"device", std::string(90, 'd')}}});
  for (int i = 0; i < 50; ++i) {
    view.on_event(CandidateStarted{refused_step(), progress()});
    view.on_event(TierEvent{"k", "a tier with a long name that does not fit", true, 1, ""});
    view.on_event(StepFinished{refused_step(), progress()});
  }
  EXPECT_LE(screen_after(err.str(), 80).size(), 6u) << err.str();
}

TEST(SearchView, RedrawsOnlyOnTerminals) {
  for (const bool live : {false, true}) {
    std::ostringstream out, err;
    Console console{out, err, {}, {}};
    {
      SearchView view(console, Screen{live, [] { return 80; }});
      view.on_event(CandidateStarted{refused_step(), progress()});
      view.on_event(StepFinished{refused_step(), progress()});
    }
    EXPECT_EQ(err.str().find("\x1b[5A") != std::string::npos, live) << err.str();
    EXPECT_EQ(err.str().find("\x1b[31m"), std::string::npos) << "a kernel's words do not drive the terminal";
    EXPECT_TRUE(out.str().empty());
  }
}

OptimizeResult result_of(const Speedup& speedup) {
  OptimizeResult result;
  result.folder = "runs/rope";
  result.best = kept_step();
  auto& measurement = std::get<Measurement>(result.best->evaluation.outcome);
  measurement.speedup = speedup;
  measurement.shapes.push_back({"default", 1, {412, 408, 415, 30}, {}, {{"naive", speedup}}, std::nullopt});
  result.standing = standing_of(speedup);
  result.kernel = "runs/rope/best.cpp";
  return result;
}

TEST(RunSummary, CallsAWinnerAWinner) {
  const std::string text = run_summary(result_of({"naive", 7.91, 7.7, 8.15}), {});
  EXPECT_HAS(text, "default  3.26 ms -> 412 us  7.91x (7.70x to 8.15x) vs naive");
  EXPECT_HAS(text, "kerf export runs/rope");
  EXPECT_EQ(text.find("nothing faster"), std::string::npos);
}

TEST(RunSummary, ThePlainKernelAsTheBestIsNotComparedWithItself) {
  OptimizeResult result = result_of({"naive", 0.91, 0.8, 1.04});
  result.best->proposer = kBaselineProposer;
  result.naive = "runs/rope/naive.cpp";
  const std::string text = run_summary(result, {});
  EXPECT_HAS(text, "the plain kernel stays the best");
  EXPECT_HAS(text, "default  412 us");
  EXPECT_HAS(text, "use     runs/rope/naive.cpp");
  EXPECT_EQ(text.find("0.91x"), std::string::npos) << text;
  EXPECT_EQ(text.find("best.cpp"), std::string::npos) << "the same file under another name";
  EXPECT_HAS(step_line({*result.best, {}}, {}), "the plain kernel");
}

TEST(RunSummary, SaysThatNoKernelWasTriedInTheTime) {
  OptimizeResult result = result_of({"naive", 0.91, 0.8, 1.04});
  result.best->proposer = kBaselineProposer;
  result.search.progress.time_limit = 1;
  const std::string text = run_summary(result, {});
  EXPECT_HAS(text, "no kernel was tried: the time went on preparation; give more --time");
  EXPECT_EQ(text.find("nothing faster"), std::string::npos) << text;
}

TEST(RunSummary, SaysPlainlyWhenNothingIsFasterAndOffersThePlainKernel) {
  for (const Speedup& speedup : {Speedup{"naive", 0.72, 0.7, 0.74}, Speedup{"naive", 1.01, 0.98, 1.04}}) {
    OptimizeResult result = result_of(speedup);
    result.naive = "runs/rope/naive.cpp";
    const std::string text = run_summary(result, {});
    EXPECT_HAS(text, "nothing faster than naive was found");
    EXPECT_HAS(text, speedup.high < 1 ? "slower than naive" : "not shown to be faster than naive");
    EXPECT_HAS(text, "use     runs/rope/naive.cpp");
    EXPECT_EQ(text.find("kerf export"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace kerf::cli
