#include "sandbox/lockdown.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace kerf {
namespace {

constexpr int kFine = 42;

// The handler may only make system calls that the filter knows; standard error is one of them.
void say_number(int number) {
  char digits[16];
  const int length = std::snprintf(digits, sizeof digits, "refused %d\n", number);
  if (::write(2, digits, static_cast<std::size_t>(length)) < 0) return;
}

void locked(LockdownPolicy::Stage stage, const std::function<void()>& body) {
  LockdownPolicy policy;
  policy.stage = stage;
  policy.on_forbidden = say_number;
  if (!lock_down(policy)) ::_exit(1);
  body();
  ::syscall(SYS_exit_group, kFine);
}

void expect_refused(long number, const std::function<void()>& body) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::computing, body), testing::ExitedWithCode(kForbiddenExit),
              "refused " + std::to_string(number))
      << system_call_name(static_cast<int>(number));
}

TEST(LockdownDeathTest, StopsWhatAKernelHasNoBusinessDoing) {
  expect_refused(SYS_openat, [] { (void)::open("/etc/passwd", O_RDONLY); });
  expect_refused(SYS_socket, [] { (void)::socket(AF_INET, SOCK_STREAM, 0); });
  expect_refused(SYS_clone, [] { (void)::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); });
  expect_refused(SYS_execve, [] { ::execl("/bin/true", "true", nullptr); });
  expect_refused(SYS_kill, [] { ::kill(1, 0); });
  expect_refused(SYS_ptrace, [] { (void)::syscall(SYS_ptrace, 0, 0, 0, 0); });
  expect_refused(SYS_rt_sigaction, [] { ::signal(SIGSYS, SIG_IGN); });
  expect_refused(SYS_prctl, [] { ::prctl(PR_SET_DUMPABLE, 0); });
  expect_refused(SYS_perf_event_open, [] { (void)::syscall(SYS_perf_event_open, 0, 0, 0, 0, 0); });
  expect_refused(SYS_process_vm_readv, [] { (void)::syscall(SYS_process_vm_readv, 1, 0, 0, 0, 0, 0); });
  expect_refused(SYS_setitimer, [] { (void)::syscall(SYS_setitimer, 0, 0, 0); });
  expect_refused(SYS_timer_create, [] { (void)::syscall(SYS_timer_create, 0, 0, 0); });
  expect_refused(SYS_write, [] { (void)!::write(1, "x", 1); });
  expect_refused(SYS_mprotect, [] {
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::mprotect(page, 4096, PROT_READ | PROT_EXEC);
  });
}

TEST(LockdownDeathTest, LetsThreadsAndMemoryThrough) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::computing,
                     [] {
                       std::vector<std::thread> threads;
                       for (int i = 0; i < 4; ++i) {
                         threads.emplace_back([] {
                           std::vector<char> large(64 << 20, 'x');
                           if (large[100] != 'x') ::_exit(1);
                         });
                       }
                       for (auto& thread : threads) thread.join();
                     }),
              testing::ExitedWithCode(kFine), "");
}

// More threads than malloc has arenas for without knowing how many cores there are, all at once.
TEST(LockdownDeathTest, LetsManyThreadsAllocateAtOnce) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::computing,
                     [] {
                       constexpr int kThreads = 24;
                       std::barrier all_hold_memory(kThreads);
                       std::vector<std::thread> threads;
                       for (int i = 0; i < kThreads; ++i) {
                         threads.emplace_back([&] {
                           const std::vector<char> small(1000, 'x');
                           all_hold_memory.arrive_and_wait();
                           if (small[100] != 'x') ::_exit(1);
                         });
                       }
                       for (auto& thread : threads) thread.join();
                     }),
              testing::ExitedWithCode(kFine), "");
}

TEST(LockdownDeathTest, LetsLargeArraysBeSorted) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::computing,
                     [] {
                       std::vector<int> numbers(10'000);
                       for (std::size_t i = 0; i < numbers.size(); ++i)
                         numbers[i] = static_cast<int>(i * 7919 % 10'007);
                       std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void* a, const void* b) {
                         return *static_cast<const int*>(a) - *static_cast<const int*>(b);
                       });
                       if (!std::is_sorted(numbers.begin(), numbers.end())) ::_exit(1);
                     }),
              testing::ExitedWithCode(kFine), "");
}

TEST(LockdownDeathTest, RefusesOnOtherThreadsToo) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::computing,
                     [] { std::thread([] { (void)::open("/etc/passwd", O_RDONLY); }).join(); }),
              testing::ExitedWithCode(kForbiddenExit), "refused");
}

TEST(LockdownDeathTest, LoadingMayReadFilesButNotWriteThem) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::loading,
                     [] {
                       if (::open("/dev/null", O_RDONLY) < 0) ::_exit(1);
                     }),
              testing::ExitedWithCode(kFine), "");
  EXPECT_EXIT(locked(LockdownPolicy::Stage::loading, [] { (void)::open("/dev/null", O_WRONLY); }),
              testing::ExitedWithCode(kForbiddenExit), "refused");
  EXPECT_EXIT(locked(LockdownPolicy::Stage::loading, [] { ::signal(SIGSYS, SIG_IGN); }),
              testing::ExitedWithCode(kForbiddenExit), "refused");
}

TEST(LockdownDeathTest, TheSecondStageTakesAwayWhatTheFirstAllowed) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::loading,
                     [] {
                       if (!lock_down({.stage = LockdownPolicy::Stage::computing})) ::_exit(1);
                       (void)::open("/dev/null", O_RDONLY);
                     }),
              testing::ExitedWithCode(kForbiddenExit), "refused");
}

TEST(LockdownDeathTest, NobodyElseInstallsAFilterWhileAKernelIsLoaded) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::loading,
                     [] {
                       sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
                       const sock_fprog program{1, allow};
                       (void)::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
                     }),
              testing::ExitedWithCode(kForbiddenExit), "refused " + std::to_string(SYS_seccomp));
}

// "Done" for every later filter, which the kernel then does not install.
void lock_down_under_a_veto() {
  sock_filter veto[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offsetof(seccomp_data, nr))),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{4, veto};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) ::_exit(1);
  const Status locked = lock_down({});
  ::_exit(!locked && locked.error().code == Errc::io ? kFine : 2);
}

TEST(LockdownDeathTest, AFilterThatSomebodyAnsweredForIsAnError) {
  EXPECT_EXIT(lock_down_under_a_veto(), testing::ExitedWithCode(kFine), "");
}

__attribute__((noinline)) long call_from_here() {
  long result = SYS_gettid;
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return result;
}

TEST(LockdownDeathTest, FencedCodeMakesNoCallAtAll) {
  const auto fenced = [](bool around) {
    const auto* begin = reinterpret_cast<const char*>(&call_from_here);
    LockdownPolicy policy;
    policy.on_forbidden = say_number;
    policy.fenced = {{around ? begin : begin - 64, around ? begin + 64 : begin}};
    if (!lock_down(policy)) ::_exit(1);
    call_from_here();
    ::syscall(SYS_exit_group, kFine);
  };
  EXPECT_EXIT(fenced(true), testing::ExitedWithCode(kForbiddenExit), "refused " + std::to_string(SYS_gettid));
  EXPECT_EXIT(fenced(false), testing::ExitedWithCode(kFine), "");
}

TEST(LockdownDeathTest, AKernelSeesNoClock) {
  expect_refused(SYS_clock_gettime, [] {
    timespec time{};
    (void)::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  });
  expect_refused(SYS_sysinfo, [] {
    struct sysinfo facts{};
    (void)::syscall(SYS_sysinfo, &facts);
  });
  expect_refused(SYS_getrandom, [] {
    int number = 0;
    (void)::syscall(SYS_getrandom, &number, sizeof number, 0);
  });
  EXPECT_EXIT(
      {
        hide_surroundings(surroundings_of(::getpid()));
        __builtin_ia32_rdtsc();
        ::_exit(kFine);
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        hide_surroundings(surroundings_of(::getpid()));
        timespec time{};
        ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
        ::_exit(kFine);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(LockdownDeathTest, ArgumentsAndEnvironmentAreEmpty) {
  EXPECT_EXIT(
      {
        const char* const name = environ[0];
        hide_surroundings(surroundings_of(::getpid()));
        ::_exit(name[0] == 0 && program_invocation_name[0] == 0 ? kFine : 1);
      },
      testing::ExitedWithCode(kFine), "");
}

TEST(LockdownDeathTest, AbortStillEndsTheProcess) {
  EXPECT_EXIT(locked(LockdownPolicy::Stage::computing, [] { std::abort(); }), testing::KilledBySignal(SIGABRT), "");
}

TEST(Lockdown, NamesSystemCalls) {
  EXPECT_EQ(system_call_name(SYS_openat), "openat");
  EXPECT_EQ(system_call_name(99999), "99999");
}

}  // namespace
}  // namespace kerf
