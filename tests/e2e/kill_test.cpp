// Kills `kerf optimize` at random moments, again and again, and holds what is left against what was reported.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "app/cli/search_view.hpp"
#include "archive/speedup_estimates.hpp"
#include "base/file.hpp"
#include "base/rng.hpp"
#include "base/test_paths.hpp"
#include "base/text.hpp"
#include "search/search_state.hpp"
#include "store/run_store.hpp"

extern char** environ;

namespace kerf {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kKills = 210;       // over all runs
constexpr int kLanes = 2;         // kill loops side by side, each with its own runs
constexpr int kEvaluations = 28;  // of one run

// Small, but with far more than kEvaluations kernels to it: a run must not end because nothing new is left to try.
constexpr const char* kTask = R"toml(name = "tiny"
[inputs]
x = "f32[m, n]"
[shapes]
default = { m = 16, n = 200, weight = 1 }
[reference]
expr = "y = sum(x * 2.0 + 1.0, axis=1)"
outputs = ["y"]
)toml";

/// One kerf process whose standard error is read as it comes.
class Process {
 public:
  Process(const std::vector<std::string>& args, const fs::path& cache) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> texts{kerf_program()};
    texts.insert(texts.end(), args.begin(), args.end());
    std::vector<char*> argv;
    for (std::string& text : texts) argv.push_back(text.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables{"KERF_CACHE=" + cache.string(), "KERF_MEMORY=off"};
    for (char** entry = environ; *entry != nullptr; ++entry)
      if (!std::string_view(*entry).starts_with("KERF_")) variables.emplace_back(*entry);
    std::vector<char*> env;
    for (std::string& text : variables) env.push_back(text.data());
    env.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, kerf_program().c_str(), &actions, nullptr, argv.data(), env.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    read_ = ends[0];
  }
  ~Process() {
    if (pid_ > 0) kill();
    ::close(read_);
  }

  /// Reads until the process ends (true), `limit` passes or `seen` is in what it printed (false).
  bool read_for(milliseconds limit, const std::string& seen = "\x01") {
    const auto until = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (printed.find(seen) != std::string::npos) return false;
      const auto left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now()).count();
      if (left < 0) return false;
      pollfd wait{read_, POLLIN, 0};
      if (::poll(&wait, 1, static_cast<int>(left)) <= 0) continue;
      char buffer[4096];
      const ssize_t got = ::read(read_, buffer, sizeof buffer);
      if (got <= 0) return true;
      printed.append(buffer, static_cast<std::size_t>(got));
    }
  }

  void interrupt() { ::kill(pid_, SIGINT); }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  /// Exit code, or minus the signal.
  int wait() {
    while (!read_for(milliseconds(60000))) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string printed;

 private:
  pid_t pid_ = 0;
  int read_ = -1;
};

/// Step numbers to the whole line, of what a process printed; a line that was cut by the kill was not reported.
std::map<std::int64_t, std::string> reported_steps(const std::string& printed) {
  std::map<std::int64_t, std::string> steps;
  const auto end = printed.rfind('\n');
  for (const std::string& line : split(printed.substr(0, end == std::string::npos ? 0 : end), '\n')) {
    const std::string text(trim(line));
    if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) steps[std::stoll(text)] = text;
  }
  return steps;
}

class KillTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "kerf-kill-XXXXXX").string();
    root_ = new fs::path(::mkdtemp(pattern.data()));
    EXPECT_TRUE(write_file_atomic(*root_ / "tiny.toml", kTask));
    Process warm(arguments(*root_ / "warm", 1), *root_ / "cache");  // fills the build cache
    ASSERT_EQ(warm.wait(), 0) << warm.printed;
  }
  static void TearDownTestSuite() {
    fs::remove_all(*root_);
    delete root_;
  }

  static std::vector<std::string> arguments(const fs::path& run, int seed) {
    if (fs::exists(run / "kerf.db") && stored("task_source", run)) return {"optimize", "--resume", run.string()};
    fs::remove_all(run);  // killed before it began
    return {"optimize", (*root_ / "tiny.toml").string(),
            "--out",    run.string(),
            "--seed",   std::to_string(seed),
            "--evals",  std::to_string(kEvaluations),
            "--set",    "measure.max_rounds=1",
            "--set",    "measure.min_rounds=1",
            "--set",    "search.finalists=1",
            "--set",    "search.patience=0"};
  }
  static bool stored(const std::string& key, const fs::path& run) {
    const auto store = open_run_store(run, RunStore::Access::read);
    if (!store) return false;
    const auto value = (*store)->get(key);
    return value && !value->value_or("").empty();
  }

  static fs::path* root_;
};
fs::path* KillTest::root_ = nullptr;

/// The journal of a finished run against everything that was printed on the way.
void hold_against_the_store(const fs::path& run, const std::map<std::int64_t, std::string>& reported) {
  const auto store = open_run_store(run, RunStore::Access::read);
  ASSERT_TRUE(store) << store.error().message;
  const auto steps = (*store)->steps();
  ASSERT_TRUE(steps) << steps.error().message;
  int evaluations = 0, looks = 0;
  std::set<std::string> programs;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    const Step& step = (*steps)[i];
    EXPECT_EQ(step.number, static_cast<std::int64_t>(i) + 1) << "a gap or a repeat";
    if (step.stage == Stage::final || is_duplicate(step) || is_fallback(step)) continue;
    ++evaluations;
    if (step.stage == Stage::tune) {
      ++looks;
      continue;  // several looks at the same values are in order
    }
    std::string program = step.source;
    for (const auto& [name, value] : step.tunables) program += name + std::to_string(value);
    EXPECT_TRUE(programs.insert(program).second) << "step " << step.number << " was evaluated before";
  }
  const auto finished = (*store)->get("finished");
  ASSERT_TRUE(finished);
  EXPECT_EQ(evaluations, kEvaluations) << run << " stopped because " << finished->value_or("it was told to");
  EXPECT_GE(looks, 1) << "the run was to have a tuning stage";
  SpeedupEstimates estimates;
  for (const Step& step : *steps) estimates.observe(step);
  for (const auto& [number, line] : reported) {
    ASSERT_LE(number, static_cast<std::int64_t>(steps->size())) << "lost: " << line;
    const Step& step = (*steps)[static_cast<std::size_t>(number - 1)];
    const std::string again = cli::step_line({step, {}, estimates.so_far(number)}, {});
    EXPECT_NE(again.find(line), std::string::npos) << "printed: " << line << "\nstored: " << again;
  }
  const auto events = read_file(run / "events.jsonl");
  ASSERT_TRUE(events);
  std::size_t lines = 0;
  for (const std::string& line : split(*events, '\n'))
    if (line.find("\"event\":\"step\"") != std::string::npos) ++lines;
  EXPECT_EQ(lines, steps->size()) << "every step is in the event log";
}

TEST_F(KillTest, NothingReportedIsLostOrRepeated) {
  std::atomic<int> kills{0}, finished{0}, after_a_step{0};
  const auto lane = [&](int number) {
    Rng rng = Rng(2024).fork(std::to_string(number));
    for (int seed = 1; kills < kKills; ++seed) {
      const fs::path run = *root_ / ("lane" + std::to_string(number) + "_" + std::to_string(seed));
      std::map<std::int64_t, std::string> reported;
      for (bool done = false; !done;) {
        Process process(arguments(run, seed), *root_ / "cache");
        bool ended = false;
        if (kills < kKills) {
          // Most kills come at any moment, the others just after something was reported.
          const bool wait_for_step = rng.chance(0.3);
          if (wait_for_step) ended = process.read_for(milliseconds(10000), "\n    ");
          if (!ended) ended = process.read_for(milliseconds(rng.integer(0, wait_for_step ? 40 : 150)));
          if (!ended) {
            process.kill();
            ++kills;
            after_a_step += process.printed.find("\n    ") != std::string::npos ? 1 : 0;
          }
        }
        const int code = ended || kills >= kKills ? process.wait() : 0;
        for (const auto& [step, line] : reported_steps(process.printed)) {
          const auto [known, fresh] = reported.emplace(step, line);
          EXPECT_TRUE(fresh) << "step " << step << " was reported twice:\n" << known->second << "\n" << line;
        }
        done = (ended || kills >= kKills) && code == 0 && stored("finished", run);
        EXPECT_TRUE(code == 0 || code == -SIGKILL) << process.printed;
        if (code != 0 && code != -SIGKILL) return;
      }
      ++finished;
      hold_against_the_store(run, reported);
    }
  };
  std::vector<std::thread> lanes;
  for (int i = 0; i < kLanes; ++i) lanes.emplace_back(lane, i);
  for (auto& thread : lanes) thread.join();
  EXPECT_GE(kills, 200);
  EXPECT_GE(finished, kLanes);
  EXPECT_GE(after_a_step, 25) << "too few kills hit a search that was under way";
  RecordProperty("kills", kills);
  RecordProperty("runs", finished);
}

TEST_F(KillTest, ASecondProcessInTheSameFolderIsRefused) {
  const auto first_arguments = arguments(*root_ / "second", 1);
  Process first(first_arguments, *root_ / "cache");
  while (!fs::exists(*root_ / "second" / "events.jsonl") || fs::file_size(*root_ / "second" / "events.jsonl") == 0)
    std::this_thread::sleep_for(milliseconds(5));  // it has begun
  Process second({"optimize", "--resume", (*root_ / "second").string()}, *root_ / "cache");
  EXPECT_EQ(second.wait(), 2);
  EXPECT_NE(second.printed.find("is being written by process"), std::string::npos) << second.printed;
  Process third(first_arguments, *root_ / "cache");
  EXPECT_EQ(third.wait(), 2) << third.printed;
  first.kill();
  Process after(arguments(*root_ / "second", 1), *root_ / "cache");  // the lock died with its owner
  EXPECT_EQ(after.wait(), 0) << after.printed;
}

TEST_F(KillTest, AnInterruptEndsTheRunCleanly) {
  Process process(arguments(*root_ / "interrupt", 3), *root_ / "cache");
  process.read_for(milliseconds(30000), "\n    2");
  process.interrupt();
  EXPECT_EQ(process.wait(), 0) << process.printed;
  EXPECT_FALSE(stored("finished", *root_ / "interrupt"));
  Process again(arguments(*root_ / "interrupt", 3), *root_ / "cache");
  EXPECT_EQ(again.wait(), 0) << again.printed;
  EXPECT_TRUE(stored("finished", *root_ / "interrupt"));
  auto reported = reported_steps(process.printed);
  reported.merge(reported_steps(again.printed));
  hold_against_the_store(*root_ / "interrupt", reported);
}

}  // namespace
}  // namespace kerf
