#include "bench/watched_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace kerf::bench {
namespace {

WatchedCommand shell(const std::string& script) {
  WatchedCommand command;
  command.argv = {"/bin/sh", "-c", script};
  command.environment = {{"PATH", "/usr/bin:/bin"}};
  command.most_seconds = 30;
  return command;
}

TEST(WatchedProcess, GivesLinesExitCodeAndTheEndOfItsErrors) {
  WatchedCommand command = shell("echo one; echo two; echo wrong >&2; exit 3");
  std::vector<std::string> lines;
  command.on_line = [&](const std::string& line) { lines.push_back(line); };
  const auto outcome = run_watched(command);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->signal, 0);
  EXPECT_EQ(outcome->err, "wrong\n");
}

TEST(WatchedProcess, IsKilledWhenItsTimeIsOver) {
  WatchedCommand command = shell("sleep 60");
  command.most_seconds = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = run_watched(command);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->timed_out);
  EXPECT_EQ(outcome->signal, SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(WatchedProcess, IsAskedToStopAndThenKilled) {
  std::atomic<bool> stop{false};
  WatchedCommand polite = shell("trap 'exit 0' INT; while :; do sleep 0.05; done");
  polite.stop = &stop;
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const auto outcome = run_watched(polite);
  setter.join();
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(outcome->signal, 0) << "it ended by itself";
  WatchedCommand deaf = shell("trap '' INT; while :; do sleep 0.05; done");
  deaf.stop = &stop;
  deaf.grace_seconds = 0.3;
  const auto killed = run_watched(deaf);
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->signal, SIGKILL);
}

TEST(WatchedProcess, TheMemoryOfWhatItStartsCounts) {
  // The child of the child holds 200 MB.
  WatchedCommand command =
      shell("(head -c 200000000 /dev/zero | tail -c 199000000 | (sleep 60; cat > /dev/null)) & wait");
  command.most_memory_bytes = 100'000'000;
  const auto outcome = run_watched(command);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->out_of_memory);
  EXPECT_GT(outcome->peak_memory_bytes, 100'000'000);
}

TEST(WatchedProcess, AProgramThatIsMissingIsAnError) {
  WatchedCommand command = shell("");
  command.argv = {"/nowhere/program"};
  EXPECT_FALSE(run_watched(command));
}

TEST(WatchedProcess, MemoryOfThisProcessIsSeen) {
  EXPECT_GT(memory_of_tree(::getpid()), 1'000'000);
  EXPECT_EQ(memory_of_tree(0x7ffffff0), 0);
}

}  // namespace
}  // namespace kerf::bench
