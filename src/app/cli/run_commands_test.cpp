// The commands that read runs, on a run made up by report/fixture_run.
#include "app/cli/run_commands.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.hpp"
#include "app/cli/run_text.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "report/fixture_run.hpp"
#include "store/run_store.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran kerf(const std::vector<std::string>& args, bool on_terminal = false) {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  Environment environment;
  environment.out_is_terminal = on_terminal;
  const int code = run(args, environment, console);
  return {code, out.str(), err.str()};
}

class RunCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "kerf-commands-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    folder_ = (root_ / "run").string();
    ASSERT_TRUE(report::write_fixture_run(folder_, {}));
  }
  static void TearDownTestSuite() { fs::remove_all(root_); }
  static inline fs::path root_;
  static inline std::string folder_;
};

TEST_F(RunCommands, ShowTellsTheWinnerTheOutcomesAndTheArchive) {
  const auto shown = kerf({"show", folder_});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_HAS(shown.out, "rmsnorm on cpu (Example processor (8 cores))");
  EXPECT_HAS(shown.out, "120 steps");
  EXPECT_HAS(shown.out, "ended: budget");
  EXPECT_HAS(shown.out, "step 120  rows/blocks  BLOCK=128 UNROLL=4");
  EXPECT_HAS(shown.out, "rejected (duplicate)");
  EXPECT_HAS(shown.out, "of 64 cells");
}

TEST_F(RunCommands, SourcesDoNotDriveATerminal) {
  const std::string folder = (root_ / "hostile").string();
  ASSERT_TRUE(report::write_fixture_run(folder, {}));
  const std::string hostile = "\x1b]0;a title\x07int y;\n";
  {
    const auto store = open_run_store(folder, RunStore::Access::write);
    ASSERT_TRUE(store) << store.error().message;
    Step step = (*store)->step(1).value();
    step.number = 121;
    step.source = hostile;
    step.evaluation.candidate_id = sha256_hex(hostile);
    ASSERT_TRUE((*store)->record(StepFinished{step, {}}));
  }
  const std::vector<std::string> show{"show", folder, "--source", "121"};
  EXPECT_EQ(kerf(show).out, hostile) << "a file or a pipe gets every byte";
  EXPECT_EQ(kerf(show, true).out, "?]0;a title?int y;\n");
}

TEST_F(RunCommands, ShowPrintsSourcesExactly) {
  EXPECT_EQ(kerf({"show", folder_, "--source"}).out, report::fixture_kernel("cpu", 3, 64, 1));
  EXPECT_EQ(kerf({"show", folder_, "--source", "2"}).out, report::fixture_kernel("cpu", 1, 64, 1));
  EXPECT_EQ(kerf({"show", folder_, "--source=1"}).out, report::fixture_kernel("cpu", 0, 64, 1));
  const auto none = kerf({"show", folder_, "--source", "500"});
  EXPECT_EQ(none.code, kMisuse);
  EXPECT_HAS(none.err, "steps are 1 to 120");
}

TEST_F(RunCommands, ShowAsJsonHoldsTheBestEvaluation) {
  const auto json = nlohmann::json::parse(kerf({"show", folder_, "--json"}).out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["task"], "rmsnorm");
  EXPECT_EQ(json["best"]["step"], 120);
  EXPECT_GT(json["best"]["evaluation"]["speedup"]["ratio"].get<double>(), 5);
  EXPECT_EQ(json["funnel"][0]["count"], 119) << "the winner, measured again, is no new kernel";
  int outcomes = 0;
  for (const auto& [name, count] : json["outcomes"].items()) outcomes += count.get<int>();
  EXPECT_EQ(outcomes, 120);
  EXPECT_GE(json["archive"].size(), 4u);
}

TEST_F(RunCommands, ShowAsCsvHasALinePerStep) {
  const auto csv = kerf({"show", folder_, "--csv"}).out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 121);
  EXPECT_EQ(csv.find("step,seconds,stage,"), 0u);
  EXPECT_HAS(csv, "\n120,");
  EXPECT_HAS(csv, "\"from a \"\"quoted\"\" & <b>bold</b> place\"");
  EXPECT_HAS(csv, ",BLOCK=128 UNROLL=4,measured,,naive,");
}

TEST_F(RunCommands, RunsListsThem) {
  const auto listed = kerf({"runs", root_.string()});
  EXPECT_EQ(listed.code, 0);
  EXPECT_HAS(listed.out, "rmsnorm");
  EXPECT_HAS(listed.out, "finished");
  const auto json = nlohmann::json::parse(kerf({"runs", root_.string(), "--json"}).out);
  EXPECT_EQ(json["runs"][0]["best_step"], 120);
  EXPECT_EQ(json["runs"][0]["best"]["standing"], "faster");
  const auto missing = kerf({"runs", (root_ / "nothing").string()});
  EXPECT_EQ(missing.code, kMisuse);
  EXPECT_HAS(missing.err, "there is no folder");
  EXPECT_HAS(kerf({"runs", folder_}).out, "no runs in");
}

TEST_F(RunCommands, TracesOfARunWithoutModelsAreRefusedAndNoFileIsMade) {
  const fs::path file = root_ / "traces.jsonl";
  const auto none = kerf({"traces", "export", folder_, "--out", file.string()});
  EXPECT_EQ(none.code, kMisuse) << none.err;
  EXPECT_HAS(none.err, "asked no language model");
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(RunCommands, AReportReplacesReportsOnly) {
  const fs::path page = root_ / "page.html", task = root_ / "my_task.toml";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(kerf({"report", folder_, "--out", page.string()}).code, 0) << "again is fine";
  std::ofstream(task) << "name = \"mine\"";
  const std::string database = *read_file(fs::path(folder_) / "kerf.db");
  for (const std::string& place : {task.string(), folder_ + "/kerf.db", folder_ + "/run.toml"}) {
    const auto refused = kerf({"report", folder_, "--out", place});
    EXPECT_EQ(refused.code, kMisuse) << place;
    EXPECT_HAS(refused.err, "cannot write " + place);
  }
  EXPECT_EQ(*read_file(task), "name = \"mine\"");
  EXPECT_EQ(*read_file(fs::path(folder_) / "kerf.db"), database);
}

TEST_F(RunCommands, AnExportReplacesExportsOnly) {
  const fs::path out = root_ / "exported";
  for (int i = 0; i < 2; ++i) {
    const auto done = kerf({"export", folder_, "--no-check", "--format", "cmake", "--out", out.string()});
    EXPECT_EQ(done.code, 0) << done.err;
  }
  std::ofstream(out / "CMakeLists.txt") << "project(mine)\n";
  fs::remove(out / "rmsnorm.h");
  const auto refused = kerf({"export", folder_, "--no-check", "--format", "cmake", "--out", out.string()});
  EXPECT_EQ(refused.code, kMisuse);
  EXPECT_HAS(refused.err, "does not show that 'kerf export' wrote it");
  EXPECT_FALSE(fs::exists(out / "rmsnorm.h")) << "all files are looked at before one is written";
  const auto best = kerf({"export", folder_, "--no-check", "--out", folder_, "--name", "best"});
  EXPECT_EQ(best.code, kMisuse);
  EXPECT_HAS(best.err, "best.cpp: a run is kept in this file");
}

TEST_F(RunCommands, AnExportLeavesTheKernelAndTheTaskThatItReads) {
  const fs::path own = root_ / "own";
  const std::string kernel = report::fixture_kernel("cpu", 3, 64, 1), task = report::fixture_task();
  ASSERT_TRUE(write_file_atomic(own / "rmsnorm.cpp", kernel));
  ASSERT_TRUE(write_file_atomic(own / "rmsnorm.toml", task));
  const auto refused = kerf({"export", "--task", (own / "rmsnorm.toml").string(), "--kernel",
                             (own / "rmsnorm.cpp").string(), "--no-check", "--out", own.string()});
  EXPECT_EQ(refused.code, kMisuse);
  EXPECT_HAS(refused.err, "rmsnorm.cpp: the command reads this file");
  EXPECT_EQ(*read_file(own / "rmsnorm.cpp"), kernel);
  EXPECT_FALSE(fs::exists(own / "rmsnorm.h"));
}

TEST_F(RunCommands, AProofReplacesProofsOnly) {
  const fs::path release = root_ / "release", link = root_ / "latest", empty = root_ / "empty";
  ASSERT_TRUE(write_file_atomic(release / "manifest.sha256", sha256_hex("int x;") + "  src/precious.c\n"));
  ASSERT_TRUE(write_file_atomic(release / "src/precious.c", "int x;"));
  const auto refused = kerf({"prove", folder_, "--out", release.string()});
  EXPECT_EQ(refused.code, kMisuse);
  EXPECT_HAS(refused.err, "is not a whole proof bundle");
  EXPECT_EQ(*read_file(release / "src/precious.c"), "int x;");
  fs::create_directory(empty);
  fs::create_directory_symlink(empty, link);
  for (int i = 0; i < 2; ++i) {
    const auto proved = kerf({"prove", folder_, "--out", link.string()});
    EXPECT_EQ(proved.code, 0) << proved.err;
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::exists(empty / "claim.json"));
  }
}

TEST(SpeedupWords, SayWhatIsNotShownToBeFaster) {
  EXPECT_EQ(speedup_words({"naive", 4.59, 0.27, 7.59}), "4.59x (0.27x to 7.59x) vs naive, undecided");
  EXPECT_EQ(speedup_words({"naive", 0.5, 0.4, 0.6}), "0.50x (0.40x to 0.60x) vs naive, slower");
  EXPECT_EQ(speedup_words({"naive", 7.91, 7.7, 8.15}), "7.91x (7.70x to 8.15x) vs naive");
}

TEST_F(RunCommands, AWinnerSlowerThanTheBaselineIsNotPresentedAsSuccess) {
  const std::string slow = (root_ / "slow").string();
  report::FixtureOptions options;
  options.speed = 0.09;
  ASSERT_TRUE(report::write_fixture_run(slow, options));
  EXPECT_HAS(kerf({"show", slow}).out, "slower than naive");
  EXPECT_HAS(kerf({"runs", root_.string()}).out, " vs naive, slower");
  EXPECT_EQ(nlohmann::json::parse(kerf({"show", slow, "--json"}).out)["best"]["speedup"]["standing"], "slower");
  const auto proved = kerf({"prove", slow, "--out", (root_ / "slow_proof").string()});
  EXPECT_HAS(proved.out, "not that it is fast: it is slower than naive");
  EXPECT_EQ(kerf({"show", folder_}).out.find("slower than naive"), std::string::npos);
  fs::remove_all(slow);
}

TEST_F(RunCommands, ReadingARunLeavesItAsItIs) {
  const auto before = fs::last_write_time(folder_);
  EXPECT_EQ(kerf({"show", folder_}).code, 0);
  EXPECT_EQ(kerf({"runs", root_.string()}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ + "/kerf.db-wal"));
  EXPECT_FALSE(fs::exists(folder_ + "/kerf.db-shm"));
  EXPECT_EQ(fs::last_write_time(folder_), before);
}

TEST_F(RunCommands, AResumedRunNeedsALargerBudget) {
  const auto resumed = kerf({"optimize", "--resume", folder_, "--evals", "2"});
  EXPECT_EQ(resumed.code, kMisuse);
  EXPECT_HAS(resumed.err, "evaluations already, and --evals is the total; give more than");
}

TEST_F(RunCommands, AProofOfAnUncertifiedKernelSaysSo) {
  const auto proved = kerf({"prove", folder_, "--out", (root_ / "proof").string()});
  EXPECT_EQ(proved.code, 0) << proved.err;
  EXPECT_HAS(proved.out, "note: the kernel is not certified");
}

TEST_F(RunCommands, OptionsThatWouldBeIgnoredAreMisuse) {
  const std::vector<std::vector<std::string>> refused = {{"export", folder_, "--set", "BLOCK=64"},
                                                         {"prove", folder_, "--set", "measure.max_rounds=x"},
                                                         {"prove", folder_, "--seed", "3"},
                                                         {"prove", "--check", folder_, "--step", "3"},
                                                         {"show", folder_, "--json", "--csv"},
                                                         {"show", folder_, "--source", "best", "--json"},
                                                         {"explain", folder_, "--diff"}};
  for (const auto& args : refused) {
    const auto ran = kerf(args);
    EXPECT_EQ(ran.code, kMisuse) << args[0] << " " << args.back();
    EXPECT_EQ(ran.out, "") << args[0];
    EXPECT_HAS(ran.err, "--") << args[0];
  }
}

/// The fixture's steps with a paired comparison, or with the plain kernel as the best.
class ChangedRun : public RunCommands {
 protected:
  RunView run_ = load_run(folder_).value();
  Step& last() { return run_.steps.back(); }
  /// A kernel of the search that was not measured again at the end.
  Step& one_of_the_search() {
    for (Step& step : run_.steps)
      if (step.number > 1 && step.stage == Stage::search && measured_speedup(step).ratio > 0 &&
          step.number != last().parents.at(0))
        return step;
    ADD_FAILURE() << "the fixture has no such step";
    return last();
  }
  void estimate_again() {
    run_.estimates = {};
    for (const Step& step : run_.steps) run_.estimates.observe(step);
  }
};

TEST_F(ChangedRun, ThePlainKernelIsNotGivenASpeedupOverItself) {
  last().proposer = kBaselineProposer;
  last().name = "naive";
  estimate_again();
  EXPECT_HAS(best_text(run_, {}), "the plain kernel stays the best");
  EXPECT_EQ(best_text(run_, {}).find("over naive"), std::string::npos);
  const std::string story = step_text(run_, last().number, false, {});
  EXPECT_HAS(story, "the plain kernel");
  EXPECT_EQ(story.find("vs naive"), std::string::npos) << story;
  EXPECT_HAS(top_text(run_, 3, {}), "the best is the plain kernel (step 120)");
  EXPECT_EQ(speedup_of(run_, last()), 0);
}

TEST_F(ChangedRun, AStepsOwnFigureItsComparisonAndItsEstimateAreToldApart) {
  Step& step = one_of_the_search();
  auto& measured = std::get<Measurement>(step.evaluation.outcome);
  measured.speedup = {"naive", 1.25, 1.2, 1.3};
  measured.comparison = PairedComparison{1, 9.0, 4.0, 3.5, 4.5};
  estimate_again();
  const double estimate = speedup_of(run_, run_.step(1)) * 4;
  EXPECT_EQ(measured_speedup(step).ratio, 1.25);
  EXPECT_NEAR(speedup_of(run_, step), estimate, 1e-9);
  const std::string story = step_text(run_, step.number, false, {});
  EXPECT_HAS(story, "1.25x [1.20x .. 1.30x]");
  EXPECT_HAS(story, "4 times as fast (3.5 to 4.5) as step 1, timed in turn");
  EXPECT_HAS(story, fmt::format("among the run's kernels: {:.3g}x", estimate));
  EXPECT_EQ(story.find("36.0x"), std::string::npos) << "not 9, which was step 1's figure then, times 4: " << story;
}

TEST_F(ChangedRun, FiguresInTablesDoNotContradictWhatKernelsShowedInTurn) {
  Step& step = one_of_the_search();
  auto& measured = std::get<Measurement>(step.evaluation.outcome);
  measured.speedup = {"naive", 500, 400, 600};  // the baseline was slow that minute
  measured.comparison = PairedComparison{1, 1, 0.5, 0.49, 0.51};
  estimate_again();
  EXPECT_EQ(top_text(run_, 1000, {}).find("500x"), std::string::npos) << top_text(run_, 1000, {});
  EXPECT_EQ(archive_text(run_, {}).find("500x"), std::string::npos) << archive_text(run_, {});
}

TEST_F(ChangedRun, TheTableSaysWhyItsFirstIsNotTheBest) {
  Step& lucky = one_of_the_search();
  std::get<Measurement>(lucky.evaluation.outcome).speedup = {"naive", 5000, 10, 9000};
  estimate_again();
  EXPECT_HAS(top_text(run_, 3, {}), "the best is step 120, not the largest figure: it was measured again at the end");
  run_.best = 1;
  auto& measured = std::get<Measurement>(lucky.evaluation.outcome);
  measured.comparison = PairedComparison{1, 9.0, 70, 0.9, 105};
  estimate_again();
  EXPECT_HAS(top_text(run_, 1, {}),
             fmt::format("step {} was 70 times as fast (0.9 to 105) as step 1, timed in turn", lucky.number));
}

TEST_F(ChangedRun, AFinalistStandsInTheTableOnce) {
  const std::string top = top_text(run_, 1000, {});
  EXPECT_HAS(top, "120  ");
  EXPECT_EQ(top.find(fmt::format("\n{:4}  ", last().parents.at(0))), std::string::npos)
      << "it was measured again as step 120:\n"
      << top;
}

TEST_F(RunCommands, ExplainTellsTheSearchAndTheLineage) {
  const auto search = kerf({"explain", folder_});
  EXPECT_HAS(search.out, "Turning points");
  EXPECT_HAS(search.out, "builtin parameter");
  EXPECT_HAS(search.out, "memory+1");
  const auto best = kerf({"explain", folder_, "best", "--diff"});
  EXPECT_EQ(best.code, 0);
  EXPECT_HAS(best.out, "How it came about");
  EXPECT_HAS(best.out, "builtin start");
  EXPECT_HAS(best.out, "against step");
  EXPECT_HAS(best.out, "+ #pragma omp parallel for");
}

TEST_F(RunCommands, ExplainGivesGateAndEvidenceOfARefusedKernel) {
  const auto run = load_run(folder_).value();
  int seen = 0;
  for (const Step& step : run.steps) {
    const auto* wrong = std::get_if<WrongResult>(&step.evaluation.outcome);
    if (wrong == nullptr) continue;
    const auto text = kerf({"explain", folder_, std::to_string(step.number)}).out;
    EXPECT_HAS(text, "at gate 'values'");
    EXPECT_HAS(text, "113 of 3333");
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

TEST_F(RunCommands, AKernelsWordsCannotDriveTheTerminal) {
  for (const auto& args : {std::vector<std::string>{"show", folder_, "--top", "1000"}, {"explain", folder_}}) {
    const auto text = kerf(args).out;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

TEST_F(RunCommands, AnUnknownRunIsMisuse) {
  const auto missing = kerf({"show", (root_ / "nothing").string()});
  EXPECT_EQ(missing.code, kMisuse);
  EXPECT_HAS(missing.err, "there is no run");
  EXPECT_EQ(kerf({"explain", root_.string()}).code, kMisuse);
}

TEST(RunText, SecondsAndSpeedupsReadWell) {
  EXPECT_EQ(format_seconds(41.4), "41 s");
  EXPECT_EQ(format_seconds(200), "3 min 20 s");
  EXPECT_EQ(format_seconds(7500), "2 h 5 min");
  EXPECT_EQ(format_speedup(7.912), "7.91x");
  EXPECT_EQ(format_speedup(0), "-");
}

}  // namespace
}  // namespace kerf::cli
