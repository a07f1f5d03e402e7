#include "bench/bench.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <thread>

#include "base/file.hpp"
#include "bench/bench_fixture.hpp"
#include "bench/results.hpp"

namespace kerf::bench {
namespace {

using test::TempFolder;

struct Watcher final : BenchObserver {
  void began(const BenchProgress&, const std::string& remark) override { remarks.push_back(remark); }
  void stage_started(const Record& record, Stage stage, const BenchProgress&) override {
    started.push_back(problem_id(record.problem) + " " + std::string(stage_word(stage)));
  }
  void said(const Record&, Stage, const std::string&, const BenchProgress&) override {}
  void stage_finished(const Record&, Stage, const BenchProgress&) override {}
  void problem_finished(const Record& record, const BenchProgress& progress) override {
    finished.push_back(problem_id(record.problem));
    last = progress;
    if (on_finished) on_finished(record);
  }
  std::vector<std::string> remarks, started, finished;
  BenchProgress last;
  std::function<void(const Record&)> on_finished;
};

/// Parts that all go well; the figures tell the problem.
Parts good_parts() {
  Parts parts;
  parts.import_model = [](const Job&, Record& record) {
    record.torch = "0.0";
    return StageEnd{};
  };
  parts.search = [](const Job&, Record& record) {
    record.kernel = "row/block";
    record.verified = true;
    return StageEnd{};
  };
  parts.export_kernel = [](const Job&, Record&) { return StageEnd{}; };
  parts.compare = [](const Job&, Record& record) {
    const Record made = test::good_record(record.problem.level, record.problem.number, 1.5 + record.problem.number);
    record.eager = made.eager;
    record.compiled = made.compiled;
    record.compile_status = "measured";
    record.compiled_over_eager = made.compiled_over_eager;
    if (record.failure != Failure::none) return StageEnd{};
    record.ours = made.ours;
    record.over_eager = made.over_eager;
    record.over_compiled = made.over_compiled;
    record.correct = true;
    record.kernelbench_correct = true;
    return StageEnd{};
  };
  return parts;
}

struct BenchTest : ::testing::Test {
  BenchTest() {
    request.folder = folder.path / "out";
    request.facts.target = "made up";
    request.facts.seed = 7;
    for (int i = 1; i <= 6; ++i) request.problems.push_back(test::made_problem(1, i));
    request.overlap = false;
  }
  BenchResult run(const Parts& parts) {
    auto result = run_bench(request, parts, clock, watcher, interrupted);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : BenchResult{};
  }
  TempFolder folder;
  BenchRequest request;
  SystemClock clock;
  Watcher watcher;
  std::atomic<bool> interrupted{false};
};

TEST_F(BenchTest, TakesEveryProblemThroughAllStages) {
  const BenchResult result = run(good_parts());
  ASSERT_EQ(result.state.records.size(), 6u);
  for (const Record& record : result.state.records) {
    EXPECT_EQ(record.progress, Progress::done);
    EXPECT_TRUE(record.correct);
  }
  EXPECT_EQ(watcher.last.finished, 6);
  EXPECT_EQ(watcher.last.faster, 6);
  EXPECT_EQ(watcher.started[3], "1/1 compare") << "without overlap one problem is finished before the next is begun";
  EXPECT_EQ(watcher.started[4], "1/2 import");
  for (const char* file : {kResultsJson, kResultsTsv, kResultsPage, kBenchFile})
    EXPECT_TRUE(std::filesystem::exists(request.folder / file)) << file;
}

TEST_F(BenchTest, ComparisonsArePreparedBesideTheSearchOnADeviceOfItsOwnOnly) {
  for (const bool overlap : {false, true}) {
    request.overlap = overlap;
    request.folder = folder.path / (overlap ? "overlapped" : "alone");
    Parts parts = good_parts();
    std::mutex mutex;
    std::vector<std::string> order;
    const auto note = [&](const std::string& what, const Record& record) {
      const std::lock_guard lock(mutex);
      order.push_back(what + " " + problem_id(record.problem));
    };
    parts.prepare = [&](const Job&, const Record& record) { note("prepare", record); };
    const auto search = parts.search;
    parts.search = [&](const Job& job, Record& record) {
      note("search", record);
      return search(job, record);
    };
    run(parts);
    EXPECT_EQ(order.size(), overlap ? 12u : 6u);
    for (std::size_t i = 0; overlap && i + 1 < order.size(); i += 2)
      EXPECT_EQ(order[i].substr(8), order[i + 1].substr(7)) << "its own search follows";
  }
}

TEST_F(BenchTest, EveryFailureIsARowAndTheRestGoesOn) {
  Parts parts = good_parts();
  const auto failing = [](int number, Failure failure, const auto& part) {
    return [=](const Job& job, Record& record) {
      if (record.problem.number == number && record.failure == Failure::none)
        return StageEnd{failure, "scripted\nin two lines", false};
      return part(job, record);
    };
  };
  parts.import_model = failing(1, Failure::refused, parts.import_model);
  parts.import_model = failing(2, Failure::broken, parts.import_model);
  parts.search = failing(3, Failure::no_kernel, parts.search);
  parts.export_kernel = failing(4, Failure::export_failed, parts.export_kernel);
  parts.compare = failing(5, Failure::compare_failed, parts.compare);
  const BenchResult result = run(parts);
  const auto& records = result.state.records;
  const Failure expected[] = {Failure::refused,       Failure::broken,         Failure::no_kernel,
                              Failure::export_failed, Failure::compare_failed, Failure::none};
  const char* stages[] = {"import", "import", "search", "export", "compare", ""};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(records[i].failure, expected[i]) << i;
    EXPECT_EQ(records[i].stage, stages[i]) << i;
    EXPECT_EQ(records[i].correct, i == 5) << i;
  }
  EXPECT_TRUE(records[0].compiled_over_eager) << "PyTorch's own figures are had all the same";
  EXPECT_TRUE(records[2].compiled_over_eager);
  EXPECT_FALSE(records[1].compiled_over_eager) << "but not of a file that cannot be run";
  EXPECT_EQ(watcher.finished.size(), 6u);
  const std::string table = read_file(request.folder / kResultsTsv).value();
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7) << "one line a problem, whatever its message holds";
}

TEST_F(BenchTest, GoesOnWithWhatIsMissing) {
  Parts parts = good_parts();
  const auto search = parts.search;
  parts.search = [&](const Job& job, Record& record) {
    if (record.problem.number == 3) {
      interrupted = true;
      return StageEnd{Failure::none, "", true};
    }
    return search(job, record);
  };
  const BenchResult first = run(parts);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(watcher.finished, (std::vector<std::string>{"1/1", "1/2"}));
  interrupted = false;
  watcher = Watcher{};
  run(good_parts());
  EXPECT_EQ(watcher.started[0], "1/3 search") << "its import is kept";
  EXPECT_EQ(watcher.finished, (std::vector<std::string>{"1/3", "1/4", "1/5", "1/6"}));
  watcher = Watcher{};
  run(good_parts());
  EXPECT_TRUE(watcher.started.empty()) << "nothing is done twice";
}

TEST_F(BenchTest, FailuresAreTriedAgainOnlyWhenAsked) {
  Parts parts = good_parts();
  parts.export_kernel = [](const Job&, Record&) { return StageEnd{Failure::export_failed, "no", false}; };
  run(parts);
  watcher = Watcher{};
  run(good_parts());
  EXPECT_TRUE(watcher.started.empty());
  request.retry_failed = true;
  const BenchResult again = run(good_parts());
  EXPECT_EQ(watcher.started[0], "1/1 export") << "the search is not done again for a later stage";
  for (const Record& record : again.state.records) EXPECT_EQ(record.progress, Progress::done);
}

TEST_F(BenchTest, ADamagedRecordIsBegunAgain) {
  run(good_parts());
  test::put(request.folder / problem_folder(request.problems[1]) / kRecordFile, "{\"schema\": 1,");
  watcher = Watcher{};
  run(good_parts());
  EXPECT_NE(watcher.remarks[0].find("1/2"), std::string::npos);
  EXPECT_EQ(watcher.finished, (std::vector<std::string>{"1/2"}));
}

TEST_F(BenchTest, OtherProblemsOfTheFolderStayInTheResults) {
  const std::vector<Problem> all = request.problems;
  request.problems.resize(2);
  run(good_parts());
  request.problems = {all[4]};
  const BenchResult result = run(good_parts());
  EXPECT_EQ(result.state.records.size(), 3u);
}

TEST_F(BenchTest, AFolderOfAnotherTargetOrOfSomethingElseIsRefused) {
  run(good_parts());
  request.facts.target = "another";
  const auto other = run_bench(request, good_parts(), clock, watcher, interrupted);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::invalid_input);
  request.folder = folder.path / "full";
  test::put(request.folder / "thesis.txt", "irreplaceable");
  const auto full = run_bench(request, good_parts(), clock, watcher, interrupted);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::invalid_input);
  EXPECT_EQ(read_file(request.folder / "thesis.txt").value(), "irreplaceable");
}

TEST_F(BenchTest, TheTotalIsSharedAndKept) {
  request.budget.total_seconds = 60;
  FakeClock fake;
  Parts parts = good_parts();
  std::vector<double> given;
  parts.search = [&](const Job& job, Record& record) {
    given.push_back(job.seconds);
    fake.advance(std::chrono::milliseconds(static_cast<int>(job.seconds * 1000)));
    record.verified = true;
    return StageEnd{};
  };
  const auto compare = parts.compare;
  parts.compare = [&](const Job& job, Record& record) {
    fake.advance(std::chrono::seconds(5));
    return compare(job, record);
  };
  const auto result = run_bench(request, parts, fake, watcher, interrupted);
  ASSERT_TRUE(result);
  ASSERT_EQ(given.size(), 6u);
  EXPECT_DOUBLE_EQ(given[0], 2) << "a guess at the other stages is taken off: 60 / 6 - 8";
  EXPECT_GT(given[1], 4) << "then what they were seen to take";
  EXPECT_LE(result->seconds, 61);
  EXPECT_EQ(watcher.finished.size(), 6u);
}

TEST_F(BenchTest, WhatTheTotalEndsIsMissingNotFailed) {
  request.budget.total_seconds = 10;
  FakeClock fake;
  Parts parts = good_parts();
  parts.search = [&](const Job& job, Record&) {
    fake.advance(std::chrono::milliseconds(static_cast<int>(job.most_seconds * 1000)));
    return StageEnd{Failure::timed_out, "took too long", false};
  };
  const auto result = run_bench(request, parts, fake, watcher, interrupted);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->out_of_time);
  EXPECT_EQ(result->state.records[0].failure, Failure::none);
  EXPECT_EQ(result->state.records[0].progress, Progress::imported);
  EXPECT_TRUE(watcher.finished.empty());
}

TEST_F(BenchTest, WithOverlapTheDeviceIsUsedByOneStageAtATime) {
  request.overlap = true;
  request.import_threads = 3;
  Parts parts = good_parts();
  std::atomic<int> on_device{0}, importing{0};
  std::atomic<bool> crowded{false}, beside{false};
  const auto slow = [](int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
  const auto import_model = parts.import_model;
  parts.import_model = [&](const Job& job, Record& record) {
    ++importing;
    slow(5);
    --importing;
    return import_model(job, record);
  };
  const auto device = [&](const auto& part) {
    return [&, part](const Job& job, Record& record) {
      if (++on_device > 1) crowded = true;
      for (int i = 0; i < 20; ++i) {
        if (importing > 0) beside = true;
        slow(1);
      }
      --on_device;
      return part(job, record);
    };
  };
  parts.search = device(parts.search);
  parts.compare = device(parts.compare);
  const BenchResult result = run(parts);
  EXPECT_FALSE(crowded);
  EXPECT_TRUE(beside) << "imports run while the device is busy";
  EXPECT_EQ(watcher.finished.size(), 6u);
  for (const Record& record : result.state.records) EXPECT_EQ(record.progress, Progress::done);
}

/// Runs the bench in a process of its own that writes what it reported into a pipe; killed after `after`.
std::vector<std::string> killed_bench(const BenchRequest& request, std::chrono::microseconds after) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    Parts parts = good_parts();
    const auto import_model = parts.import_model;
    parts.import_model = [&](const Job& job, Record& record) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return import_model(job, record);
    };
    SystemClock own_clock;
    Watcher own;
    own.on_finished = [&](const Record& record) {
      const std::string line = problem_id(record.problem) + "\n";
      [[maybe_unused]] const auto written = ::write(ends[1], line.data(), line.size());
    };
    const std::atomic<bool> never{false};
    const auto result = run_bench(request, parts, own_clock, own, never);
    ::_exit(result ? 0 : 1);
  }
  ::close(ends[1]);
  std::this_thread::sleep_for(after);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  std::string said;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = said.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(said.substr(at, end - at));
  return lines;
}

TEST_F(BenchTest, AProcessKilledAtAnyMomentLosesNothingItReported) {
  request.problems.clear();
  for (int i = 1; i <= 12; ++i) request.problems.push_back(test::made_problem(1, i));
  std::vector<std::string> reported;
  int kills = 0;
  for (int ms = 2; reported.size() < 12 && kills < 60; ++kills, ms += 1) {
    for (const std::string& id : killed_bench(request, std::chrono::milliseconds(ms))) {
      EXPECT_EQ(std::count(reported.begin(), reported.end(), id), 0) << id << " was done twice";
      reported.push_back(id);
    }
    if (!std::filesystem::exists(request.folder / kBenchFile)) continue;
    const auto state = read_state(request.folder);
    ASSERT_TRUE(state) << state.error().message;
    for (const Record& record : state->records)
      if (std::count(reported.begin(), reported.end(), problem_id(record.problem)) > 0) {
        EXPECT_EQ(record.progress, Progress::done) << problem_id(record.problem);
      }
  }
  const BenchResult result = run(good_parts());
  EXPECT_GT(kills, 2);
  for (const Record& record : result.state.records) {
    EXPECT_EQ(record.progress, Progress::done);
    EXPECT_DOUBLE_EQ(record.over_eager->ratio, 1.5 + record.problem.number);
  }
}

TEST(ShareOfTime, IsEqualAndNeverLessThanTheLeast) {
  EXPECT_DOUBLE_EQ(share_of(600, 100, 2), 4);
  EXPECT_DOUBLE_EQ(share_of(10, 100, 2, 1), 1);
  EXPECT_DOUBLE_EQ(share_of(10, 0, 2, 1), 1);
}

}  // namespace
}  // namespace kerf::bench
