#include "worker/process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "worker/message.hpp"
#include "worker/pool.hpp"

namespace kerf::worker {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<Process> start(const std::string& kind) {
  Command command;
  command.self = std::filesystem::read_symlink("/proc/self/exe");
  command.kind = kind;
  command.environment = {{"GREETING", "hello"}};
  auto process = Process::start(command);
  if (!process) {
    ADD_FAILURE() << process.error().message;
    return nullptr;
  }
  return *std::move(process);
}

TEST(Process, CarriesSmallAndLargeMessagesBothWays) {
  auto echo = start("echo");
  const std::string large(20 << 20, 'x');
  for (const std::string& message : {std::string("abc"), std::string(), large}) {
    std::thread sender([&] { EXPECT_TRUE(echo->send(message)); });
    const auto answer = echo->receive(milliseconds(10000));
    sender.join();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, message);
  }
}

TEST(Process, CarriesADescriptor) {
  auto process = start("descriptor");
  const int memory = ::memfd_create("test", 0);
  ASSERT_EQ(::write(memory, "shared!", 7), 7);
  ASSERT_TRUE(process->send("read it", memory));
  ::close(memory);
  EXPECT_EQ(process->receive(milliseconds(5000)).value_or(""), "shared!");
}

TEST(Process, SaysHowTheProcessEnded) {
  auto process = start("crash");
  const auto answer = process->receive(milliseconds(5000));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::unavailable);
  EXPECT_NE(answer.error().message.find("signal 6"), std::string::npos) << answer.error().message;
  EXPECT_NE(answer.error().message.find("last words"), std::string::npos) << answer.error().message;
  EXPECT_FALSE(process->send("anyone?"));
}

TEST(Process, AProcessThatDoesNotAnswerTimesOutAndCanBeKilled) {
  auto process = start("hang");
  const auto answer = process->receive(milliseconds(50));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::timeout);
  process->kill();
  EXPECT_EQ(process->receive(milliseconds(50)).error().code, Errc::unavailable);
}

TEST(Process, EndsWithItsJudgeEvenWhenItIsBusy) {
  auto process = start("busy");
  const auto pid = process->receive(milliseconds(5000));
  ASSERT_TRUE(pid);
  process.reset();
  EXPECT_NE(::access(("/proc/" + *pid).c_str(), F_OK), 0);
}

TEST(Process, InheritsNothingButItsEnvironmentAndItsEnd) {
  const int leak = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  auto process = start("inventory");
  EXPECT_EQ(process->receive(milliseconds(5000)).value_or(""), "hello, 4 descriptors");
  ::close(leak);
}

TEST(Process, AMissingBinaryIsAnError) {
  Command command;
  command.self = "/nowhere/at/all";
  EXPECT_FALSE(Process::start(command));
}

TEST(Message, ReadsBackWhatWasWrittenAndNothingBeyond) {
  const auto bytes = Writer().put<std::uint64_t>(7).text("seven").put(2.5).bytes();
  Reader reader(bytes);
  EXPECT_EQ(reader.get<std::uint64_t>(), 7u);
  EXPECT_EQ(reader.text(), "seven");
  EXPECT_EQ(reader.get<double>(), 2.5);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.get<std::uint64_t>(), 0u);
  EXPECT_FALSE(reader.ok());
}

TEST(Message, ALengthBeyondTheEndIsAnErrorAndNoAllocation) {
  const auto bytes = Writer().put<std::uint64_t>(1ull << 60).bytes();
  Reader text(bytes);
  EXPECT_EQ(text.text(), "");
  EXPECT_FALSE(text.ok());
  Reader list(bytes);
  EXPECT_EQ(list.count(), 0u);
  EXPECT_FALSE(list.ok());
}

int worker_main(const std::string& kind) {
  auto link = enter_worker(0);
  if (!link) return 2;
  if (kind == "echo") {
    while (auto message = link->receive(Link::kNoLimit)) (void)link->send(*message);
    return 0;
  }
  if (kind == "descriptor") {
    int memory = -1;
    (void)link->receive(Link::kNoLimit, &memory);
    char text[8] = {};
    if (::pread(memory, text, 7, 0) != 7) return 1;
    return link->send(text) ? 0 : 1;
  }
  if (kind == "pool" || kind == "unusable") {
    if (!link->send(greeting(kind == "pool", kind == "pool" ? "version 7" : "no licence"))) return 1;
    while (auto message = link->receive(Link::kNoLimit)) {
      if (*message == "crash") std::abort();
      while (*message == "hang") ::pause();
      (void)link->send(*message == "pid" ? std::to_string(::getpid()) : *message);
    }
    return 0;
  }
  if (kind == "crash") {
    if (::write(2, "last words\n", 11) != 11) return 1;
    std::abort();
  }
  if (kind == "inventory") {
    int count = 0;
    for (int i = 0; i < 1024; ++i) count += ::fcntl(i, F_GETFD) >= 0;
    const char* greeting = std::getenv("GREETING");
    return link->send(std::string(greeting ? greeting : "") + ", " + std::to_string(count) + " descriptors") ? 0 : 1;
  }
  if (kind == "busy") (void)link->send(std::to_string(::getpid()));
  for (volatile int spin = 0;;) spin = spin + 1;
}

}  // namespace
}  // namespace kerf::worker

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "worker") return kerf::worker::worker_main(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
