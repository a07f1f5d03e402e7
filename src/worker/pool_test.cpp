#include "worker/pool.hpp"

#include <signal.h>

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace kerf::worker {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{10000};

Command command(const std::string& kind) {
  Command command;
  command.self = std::filesystem::read_symlink("/proc/self/exe");
  command.kind = kind;
  return command;
}

PoolOptions options(int most_processes) {
  PoolOptions options;
  options.compiler = "the test compiler";
  options.most_processes = most_processes;
  return options;
}

bool anything(std::string_view) { return true; }

/// The answer, or "lost: ..." or "error: ...".
std::string ask(Pool& pool, std::string_view payload, milliseconds limit = kLong) {
  const auto outcome = pool.request(payload, limit, [](std::string_view bytes) { return bytes != "garbage"; });
  if (!outcome) return "error: " + outcome.error().message;
  if (const auto* lost = std::get_if<Lost>(&*outcome)) return "lost: " + lost->how;
  return std::get<std::string>(*outcome);
}

TEST(Pool, KeepsAProcessBetweenRequests) {
  Pool pool(command("pool"), options(2));
  ASSERT_TRUE(pool.warm());
  const std::string pid = ask(pool, "pid");
  EXPECT_EQ(pool.version().value_or(""), "version 7");
  EXPECT_EQ(ask(pool, "pid"), pid);
  EXPECT_EQ(ask(pool, "echo"), "echo");
}

TEST(Pool, RunsNoMoreProcessesThanAllowed) {
  Pool pool(command("pool"), options(2));
  std::mutex mutex;
  std::set<std::string> pids;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        const std::string pid = ask(pool, "pid");
        const std::lock_guard lock(mutex);
        pids.insert(pid);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(pids.size(), 2U);
}

TEST(Pool, ACrashIsToldAndTheNextRequestFindsAFreshProcess) {
  Pool pool(command("pool"), options(1));
  EXPECT_NE(ask(pool, "crash").find("lost: the test compiler crashed on this source: "), std::string::npos);
  EXPECT_EQ(ask(pool, "echo"), "echo");
  EXPECT_NE(ask(pool, "crash").find("lost: "), std::string::npos);  // by a process that has worked before
}

TEST(Pool, AHangIsStoppedAtItsLimit) {
  Pool pool(command("pool"), options(1));
  EXPECT_EQ(ask(pool, "echo"), "echo");
  EXPECT_EQ(ask(pool, "hang", milliseconds(50)), "lost: the test compiler did not finish within 50 ms and was stopped");
  EXPECT_EQ(ask(pool, "echo"), "echo");
}

TEST(Pool, AProcessThatDiedWhileItWasIdleIsReplaced) {
  Pool pool(command("pool"), options(1));
  const std::string pid = ask(pool, "pid");
  ::kill(std::stoi(pid), SIGKILL);
  while (::kill(std::stoi(pid), 0) == 0 && ask(pool, "pid") == pid) std::this_thread::yield();
  EXPECT_NE(ask(pool, "pid"), pid);
  EXPECT_EQ(ask(pool, "echo"), "echo");
}

TEST(Pool, AMalformedAnswerIsAnErrorAndEndsTheProcess) {
  Pool pool(command("pool"), options(1));
  const std::string pid = ask(pool, "pid");
  EXPECT_EQ(ask(pool, "garbage"), "error: the test compiler process sent a malformed answer");
  EXPECT_NE(ask(pool, "pid"), pid);
}

TEST(Pool, AProcessIsReplacedAfterItsShareOfRequests) {
  PoolOptions few = options(1);
  few.most_requests = 2;
  Pool pool(command("pool"), few);
  const std::string pid = ask(pool, "pid");
  EXPECT_EQ(ask(pool, "pid"), pid);
  EXPECT_NE(ask(pool, "pid"), pid);
}

TEST(Pool, SaysWhyNoProcessCanBeUsed) {
  PoolOptions absent = options(1);
  absent.unusable = Errc::unavailable;
  Pool pool(command("unusable"), absent);
  const auto outcome = pool.request("x", kLong, anything);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::unavailable);
  EXPECT_EQ(outcome.error().message, "no licence");
  Pool crashing(command("crash"), options(1));
  EXPECT_NE(ask(crashing, "x").find("the test compiler does not start"), std::string::npos);
}

TEST(ProcessSlots, HoldBackMoreThanAreFree) {
  ProcessSlots slots(2);
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto slot = slots.take();
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
      std::this_thread::sleep_for(milliseconds(2));
      --inside;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

}  // namespace
}  // namespace kerf::worker
