#include "sandbox/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sandbox/fake_sandbox.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/pids_cgroup.hpp"

namespace kerf {
namespace {

using namespace std::chrono_literals;

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kerf-sandbox-test-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static SandboxCommand shell(const std::string& script) {
    SandboxCommand command;
    command.argv = {"/bin/sh", "-c", script};
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    return command;
  }
  ProcessOutcome run(const SandboxCommand& command) {
    auto outcome = sandbox_->run(command);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return outcome.value_or(ProcessOutcome{});
  }

  std::unique_ptr<Sandbox> sandbox_ = make_sandbox();
  std::filesystem::path folder_;
};

TEST_F(SandboxTest, GivesBackOutputErrorsAndExitCode) {
  const auto outcome = run(shell("echo words; echo trouble >&2; exit 3"));
  EXPECT_EQ(outcome.out, "words\n");
  EXPECT_EQ(outcome.err, "trouble\n");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_GT(outcome.max_rss_bytes, 0);
}

TEST_F(SandboxTest, FeedsStandardInput) {
  auto command = shell("cat");
  command.stdin_text = std::string(300'000, 'x');
  EXPECT_EQ(run(command).out, command.stdin_text);
}

TEST_F(SandboxTest, WithoutInputItIsAtItsEndAndHasNoName) {
  EXPECT_EQ(run(shell("cat; echo end; cat /dev/stdin || echo nameless")).out, "end\nnameless\n");
}

TEST_F(SandboxTest, PassesOnlyTheGivenEnvironmentAndDescriptors) {
  ::setenv("KERF_TEST_SECRET", "leaked", 1);
  const int stray = ::open("/dev/null", O_RDONLY);
  auto command = shell("echo ${KERF_TEST_SECRET:-clean}; ls /proc/self/fd | wc -l");
  command.restrict_files = false;
  const auto outcome = run(command);
  ::close(stray);
  EXPECT_EQ(outcome.out, "clean\n4\n");  // 0, 1, 2 and the one ls has open on the folder
}

TEST_F(SandboxTest, DriversFindThemselvesInProc) {
  auto command = shell("test -e /proc/$$/maps && echo found");
  command.restrict_files = false;
  EXPECT_EQ(run(command).out, "found\n");
}

TEST_F(SandboxTest, PlacesPassedDescriptorsWhereAsked) {
  const int file = ::memfd_create("passed", 0);
  ASSERT_EQ(::write(file, "hello", 5), 5);
  ::lseek(file, 0, SEEK_SET);
  auto command = shell("cat <&7");
  command.pass_fds = {{file, 7}};
  EXPECT_EQ(run(command).out, "hello");
  ::close(file);
}

TEST_F(SandboxTest, KillsWhatRunsTooLong) {
  auto command = shell("sleep 60 & sleep 60");
  command.limits.wall = 100ms;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = run(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(SandboxTest, CutsEndlessOutputAndSaysSo) {
  auto command = shell("yes");
  command.max_output_bytes = 1000;
  command.limits.wall = 200ms;
  const auto outcome = run(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_LT(outcome.out.size(), 1100u);
  EXPECT_NE(outcome.out.find("output cut"), std::string::npos);
}

TEST_F(SandboxTest, KeepsFilesOutOfReach) {
  if (landlock_version() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  std::ofstream(folder_ / "secret") << "secret";
  auto command =
      shell("cat " + (folder_ / "secret").string() + "; cat /etc/passwd; echo x > " + (folder_ / "new").string());
  const auto outcome = run(command);
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));

  command.readable = {folder_};
  EXPECT_EQ(run(command).out, "secret");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));

  command.writable = {folder_};
  run(command);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(SandboxTest, HasNoNetwork) {
  const std::string program =
      "use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or die \"no socket\"; "
      "connect($s, sockaddr_in(9, inet_aton('127.0.0.1'))) or die \"no connection\"; print 'online';";
  SandboxCommand command;
  command.argv = {"/usr/bin/perl", "-e", program};
  if (!std::filesystem::exists(command.argv[0])) GTEST_SKIP() << "needs perl";
  const auto outcome = run(command);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("no socket"), std::string::npos) << outcome.err;
}

TEST_F(SandboxTest, ContainsAForkBomb) {
  auto command = shell("n=0; while [ $n -lt 300 ]; do sleep 30 & n=$((n+1)); done; echo all started");
  command.limits.processes = 20;
  command.limits.wall = 5000ms;
  const auto outcome = run(command);
  for (const auto& missing : sandbox_abilities().missing) {
    if (missing.find("fork bomb") != std::string::npos) GTEST_SKIP() << missing;
  }
  EXPECT_EQ(outcome.out.find("all started"), std::string::npos);
  EXPECT_NE(outcome.err.find("fork"), std::string::npos) << outcome.err;
}

TEST_F(SandboxTest, EndsProcessesThatLeftTheGroup) {
  // The stray one leaves session and process group and would create the file later.
  auto command = shell("setsid sh -c 'sleep 0.4; echo x > " + (folder_ / "late").string() + "' & sleep 0.1");
  command.writable = {folder_};
  run(command);
  std::this_thread::sleep_for(800ms);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "late"));
}

TEST_F(SandboxTest, ContainsAMemoryBomb) {
  SandboxCommand command;
  command.argv = {"/usr/bin/perl", "-e", "my $x = 'a' x (1 << 30); print length $x;"};
  if (!std::filesystem::exists(command.argv[0])) GTEST_SKIP() << "needs perl";
  command.limits.memory_bytes = 256 << 20;
  const auto outcome = run(command);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.exit_code != 0 || outcome.signal != 0);
}

TEST_F(SandboxTest, LimitsFileSizes) {
  auto command = shell("head -c 2000000 /dev/zero > " + (folder_ / "big").string());
  command.writable = {folder_};
  command.limits.file_bytes = 1'000'000;
  run(command);
  EXPECT_LE(std::filesystem::file_size(folder_ / "big"), 1'000'000u);
}

TEST_F(SandboxTest, RefusesToTraceOtherProcesses) {
  SandboxCommand command;
  command.argv = {"/usr/bin/perl", "-e", "print syscall(101, 16, " + std::to_string(::getpid()) + ", 0, 0);"};
#ifndef __x86_64__
  GTEST_SKIP() << "system call number is for x86-64";
#endif
  EXPECT_EQ(run(command).out, "-1");
}

TEST_F(SandboxTest, FreezesAndThawsAStartedProcess) {
  const auto file = folder_ / "ticks";
  auto command = shell("while :; do echo x >> " + file.string() + "; done");
  command.writable = {folder_};
  auto process = sandbox_->start(command);
  ASSERT_TRUE(process) << process.error().message;
  std::this_thread::sleep_for(50ms);
  ASSERT_TRUE((*process)->freeze());
  const auto size = std::filesystem::file_size(file);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(std::filesystem::file_size(file), size);
  ASSERT_TRUE((*process)->thaw());
  std::this_thread::sleep_for(50ms);
  EXPECT_GT(std::filesystem::file_size(file), size);
  EXPECT_TRUE((*process)->alive());
  EXPECT_EQ((*process)->kill_and_wait().signal, SIGKILL);
  EXPECT_FALSE((*process)->alive());
}

TEST_F(SandboxTest, FreezesWhatTheProcessStartedToo) {
  const auto file = folder_ / "ticks";
  // One child in the process group, one in a session of its own.
  const std::string loop = "while :; do echo x >> " + file.string() + "; done";
  auto command = shell("(" + loop + ") & setsid sh -c '" + loop + "' & wait");
  command.writable = {folder_};
  auto process = sandbox_->start(command);
  ASSERT_TRUE(process) << process.error().message;
  std::this_thread::sleep_for(100ms);
  ASSERT_TRUE((*process)->freeze());
  const auto size = std::filesystem::file_size(file);
  EXPECT_GT(size, 0u);
  std::this_thread::sleep_for(50ms);
  if (std::filesystem::file_size(file) != size && !PidsCgroups().available())
    GTEST_SKIP() << "no control groups here: a process in another session runs on";
  EXPECT_EQ(std::filesystem::file_size(file), size);
  ASSERT_TRUE((*process)->thaw());
  std::this_thread::sleep_for(50ms);
  EXPECT_GT(std::filesystem::file_size(file), size);
}

TEST_F(SandboxTest, AStartedProcessOutlivesTheThreadThatAskedForIt) {
  Result<std::unique_ptr<SandboxProcess>> process = fail(Errc::io, "not started");
  std::thread([&] { process = sandbox_->start(shell("sleep 30")); }).join();
  ASSERT_TRUE(process);
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE((*process)->alive());
}

TEST_F(SandboxTest, FreezingAnEndedProcessIsAnError) {
  auto process = sandbox_->start(shell("exit 4"));
  ASSERT_TRUE(process);
  std::this_thread::sleep_for(100ms);
  EXPECT_FALSE((*process)->freeze());
  EXPECT_EQ((*process)->kill_and_wait().exit_code, 4);
}

TEST_F(SandboxTest, NamesTheProgramThatCannotBeStarted) {
  SandboxCommand command;
  command.argv = {"/no/such/program"};
  const auto outcome = sandbox_->run(command);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("/no/such/program"), std::string::npos);
  command.argv = {"relative"};
  EXPECT_EQ(sandbox_->run(command).error().code, Errc::invalid_input);
}

TEST_F(SandboxTest, RunsSideBySide) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto outcome = sandbox_->run(shell("echo " + std::to_string(i)));
      if (outcome && outcome->out == std::to_string(i) + "\n") ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST(FakeSandboxTest, RecordsCommandsAndRepeatsTheLastAnswer) {
  FakeSandbox sandbox;
  ProcessOutcome first, second;
  first.exit_code = 1;
  second.exit_code = 2;
  sandbox.answers = {first, second};
  SandboxCommand command;
  command.argv = {"/bin/x"};
  EXPECT_EQ(sandbox.run(command)->exit_code, 1);
  EXPECT_EQ(sandbox.run(command)->exit_code, 2);
  EXPECT_EQ(sandbox.run(command)->exit_code, 2);
  EXPECT_EQ(sandbox.ran.size(), 3u);
}

}  // namespace
}  // namespace kerf
