#include "sandbox/lockdown.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace kerf {
namespace {

// Arithmetic needs memory; OpenMP needs threads, affinity and futexes; the C library needs the rest.
constexpr const char* kComputing[] = {
    "futex",
    "futex_waitv",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "gettid",
    "getpid",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "set_tid_address",
    "rt_sigprocmask",
    "rt_sigreturn",
    "exit",
    "exit_group",
    "munmap",
    "mremap",
    "madvise",
    "brk",
    "restart_syscall",
    "membarrier",
};

constexpr const char* kLoading[] = {
    "read",   "pread64", "close",      "fstat",      "newfstatat", "lstat",     "stat",
    "statx",  "lseek",   "readlink",   "readlinkat", "access",     "faccessat", "faccessat2",
    "getcwd", "uname",   "getdents64", "mmap",       "mprotect",   "fcntl",     "getrandom",
};

// A process is locked down once and for all, so this state belongs to the process.
void (*g_on_forbidden)(int) = nullptr;  // set before the filter, read in the signal handler
bool g_handler_installed = false;

void handle_sigsys(int, siginfo_t* info, void*) {
  if (g_on_forbidden != nullptr) g_on_forbidden(info->si_syscall);
  ::syscall(SYS_exit_group, kForbiddenExit);
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeignCalls = 0x40000000;  // numbers from here on are those of the x32 interface
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeignCalls = 0xFFFFFFFF;
#else
#error "system calls of this architecture are not known"
#endif

/// prctl's first argument by which a filter is asked whether it holds; no option of the kernel.
constexpr std::uint32_t kProbe = 0x6b657266;

#if defined(__x86_64__)
// The one place from which a filter is installed once the first stage is in force: the filter knows the address of the
// instruction after the call.
__attribute__((noinline)) long install_filter(const sock_fprog* program, std::uint64_t* after_call) {
  long result = SYS_seccomp;
  std::uint64_t place = 0;
  if (after_call != nullptr) {
    __asm__("lea kerf_after_filter_call(%%rip), %0" : "=r"(place));
    *after_call = place;
    return 0;
  }
  __asm__ volatile(".globl kerf_after_filter_call\n.hidden kerf_after_filter_call\nsyscall\nkerf_after_filter_call:"
                   : "+a"(result)
                   : "D"(SECCOMP_SET_MODE_FILTER), "S"(SECCOMP_FILTER_FLAG_TSYNC), "d"(program)
                   : "rcx", "r11", "memory");
  return result;
}
#else
long install_filter(const sock_fprog* program, std::uint64_t* after_call) {
  if (after_call != nullptr) {
    *after_call = 0;
    return 0;
  }
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program) == 0 ? 0 : -errno;
}
#endif

constexpr std::uint32_t low_half(std::size_t offset) { return static_cast<std::uint32_t>(offset); }
constexpr std::uint32_t high_half(std::size_t offset) { return static_cast<std::uint32_t>(offset + 4); }
constexpr std::uint32_t argument(int index) {
  return low_half(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(index));
}

/// A filter as the kernel reads it, written without help from outside: once the first stage is in force there are no
/// files to write it to. Arguments that the kernel takes for 32 bits are compared as such.
class Rules {
 public:
  Rules() {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, kArchitecture, 1, 0);
    answer(SECCOMP_RET_TRAP);
    load_number();
    jump(BPF_JGE, kForeignCalls, 0, 1);
    answer(SECCOMP_RET_TRAP);
  }

  void allow(const char* name) {
    when(name, [this] { answer(SECCOMP_RET_ALLOW); });
  }
  void allow_if(const char* name, int index, std::uint32_t mask, std::uint32_t value) {
    when(name, [&] { if_argument(index, mask, value, SECCOMP_RET_ALLOW); });
  }
  void refuse(int error, const char* name) {
    when(name, [&] { answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)); });
  }
  void refuse_if(int error, const char* name, int index, std::uint32_t value) {
    when(name, [&] { if_argument(index, ~0U, value, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)); });
  }
  void allow_two(const char* name, int first, std::uint32_t first_value, int second, std::uint32_t second_value) {
    when(name, [&] {
      load(argument(first));
      jump(BPF_JEQ, first_value, 0, 4);
      if_argument(second, ~0U, second_value, SECCOMP_RET_ALLOW);
    });
  }
  /// Only the instruction before `address` may make the call.
  void allow_from(const char* name, std::uint64_t address) {
    when(name, [&] {
      load(low_half(offsetof(seccomp_data, instruction_pointer)));
      jump(BPF_JEQ, static_cast<std::uint32_t>(address), 0, 3);
      load(high_half(offsetof(seccomp_data, instruction_pointer)));
      jump(BPF_JEQ, static_cast<std::uint32_t>(address >> 32), 0, 1);
      answer(SECCOMP_RET_ALLOW);
    });
  }
  /// No call from [begin, end). The kernel reports the address after the instruction, so `end` itself still belongs to
  /// the range. One piece per value of the upper half, since a filter compares 32 bits at a time.
  void fence(const void* begin, const void* end) {
    constexpr std::uint64_t kHalf = 1ULL << 32;
    const auto first = reinterpret_cast<std::uint64_t>(begin), last = reinterpret_cast<std::uint64_t>(end);
    for (std::uint64_t from = first; from <= last; from = (from / kHalf + 1) * kHalf) {
      const std::uint64_t to = std::min(last, from / kHalf * kHalf + (kHalf - 1));
      load(high_half(offsetof(seccomp_data, instruction_pointer)));
      jump(BPF_JEQ, static_cast<std::uint32_t>(from >> 32), 0, 4);
      load(low_half(offsetof(seccomp_data, instruction_pointer)));
      jump(BPF_JGE, static_cast<std::uint32_t>(from), 0, 2);
      jump(BPF_JGT, static_cast<std::uint32_t>(to), 1, 0);
      answer(SECCOMP_RET_TRAP);
    }
    load_number();
  }

  /// 0, or what the kernel said, negative. Everything without a rule is trapped.
  long install() {
    answer(SECCOMP_RET_TRAP);
    const sock_fprog filter{static_cast<unsigned short>(program_.size()), program_.data()};
    const long result = install_filter(&filter, nullptr);
    return result > 0 ? -ESRCH : result;  // a thread that could not be bound
  }

 private:
  // The number of the call lies in the register before and after every rule.
  template <class Body>
  void when(const char* name, Body&& body) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number < 0) return;  // not on this architecture, so it cannot be made either
    const std::size_t test = program_.size();
    jump(BPF_JEQ, static_cast<std::uint32_t>(number), 0, 0);
    body();
    load_number();
    program_[test].jf = static_cast<__u8>(program_.size() - test - 1);
  }
  void if_argument(int index, std::uint32_t mask, std::uint32_t value, std::uint32_t result) {
    load(argument(index));
    program_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    jump(BPF_JEQ, value, 0, 1);
    answer(result);
  }
  void load(std::size_t offset) {
    program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void jump(unsigned test, std::uint32_t value, int if_true, int if_false) {
    program_.push_back(BPF_JUMP(static_cast<__u16>(BPF_JMP | test | BPF_K), value, static_cast<__u8>(if_true),
                                static_cast<__u8>(if_false)));
  }
  void answer(std::uint32_t what) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, what)); }

  std::vector<sock_filter> program_;
};

void add_common(Rules& rules) {
  for (const char* name : kComputing) rules.allow(name);
  // Threads of this process, not processes. clone3's flags cannot be read; the C library falls back to clone.
  rules.allow_if("clone", 0, CLONE_THREAD, CLONE_THREAD);
  rules.refuse(ENOSYS, "clone3");
  // The C library's own two signals, set up when the first thread starts; nobody can send them.
  rules.allow_if("rt_sigaction", 0, ~0U, 32);
  rules.allow_if("rt_sigaction", 0, ~0U, 33);
  // abort() and the C library's last words.
  rules.allow_two("tgkill", 0, static_cast<std::uint32_t>(::getpid()), 2, SIGABRT);
  rules.allow_if("write", 0, ~0U, 2);
  rules.allow_if("writev", 0, ~0U, 2);
  // Newer C libraries name their memory; without effect here.
  rules.refuse_if(EINVAL, "prctl", 0, 0x53564d41 /* PR_SET_VMA */);
}

void add_computing(Rules& rules) {
  // No new code: memory that is both new and executable would escape the static budget.
  rules.allow_if("mmap", 2, PROT_EXEC, 0);
  rules.allow_if("mprotect", 2, PROT_EXEC, 0);
}

void add_loading(Rules& rules) {
  for (const char* name : kLoading) rules.allow(name);
  constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  rules.allow_if("openat", 2, kWriting, 0);
  rules.allow_if("open", 1, kWriting, 0);
  std::uint64_t place = 0;
  install_filter(nullptr, &place);
  if (place != 0) {
    rules.allow_from("seccomp", place);
  } else {
    rules.allow("seccomp");
  }
}

// The C library asks the system for some things only once somebody needs them, when the filter would take that for the
// candidate's own call: malloc how many cores there are, as soon as a ninth thread allocates, and qsort how much
// memory, as soon as an array has a kilobyte. Both keep the answer.
void settle_c_library() {
  constexpr int kArenasPerCore = sizeof(long) == 4 ? 2 : 8;  // what malloc itself takes for the most
  ::mallopt(M_ARENA_MAX, kArenasPerCore * ::get_nprocs());
  std::array<int, 1024> sorted{};
  std::qsort(sorted.data(), sorted.size(), sizeof(int), [](const void* a, const void* b) {
    return static_cast<int>(*static_cast<const int*>(a) > *static_cast<const int*>(b));
  });
}

// The handler needs a stack of its own: the refused call may have come from an exhausted one.
Status install_handler() {
  stack_t current{};
  if (::sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE) != 0) {
    stack_t alternate{};
    alternate.ss_size = 64 << 10;
    alternate.ss_sp = ::mmap(nullptr, alternate.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (alternate.ss_sp == MAP_FAILED || ::sigaltstack(&alternate, nullptr) != 0)
      return fail(Errc::io, fmt::format("signal stack: {}", std::strerror(errno)));
  }
  struct sigaction action{};
  action.sa_sigaction = handle_sigsys;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  if (::sigaction(SIGSYS, &action, nullptr) != 0)
    return fail(Errc::io, fmt::format("signal handler: {}", std::strerror(errno)));
  return {};
}

}  // namespace

Status lock_down(const LockdownPolicy& policy) {
  // The first stage already refuses to change signal handlers, so the second finds this one in place.
  const bool first = !g_handler_installed;
  bool filtered = true;
  std::uint32_t token = 0;  // an answer that no earlier filter can have been written to give
  if (::syscall(SYS_getrandom, &token, sizeof token, 0) != sizeof token)
    return fail(Errc::io, fmt::format("random number: {}", std::strerror(errno)));
  token = 1 + token % 4000;
  if (first) {
    g_on_forbidden = policy.on_forbidden;
    settle_c_library();
    KERF_TRY_VOID(install_handler());
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return fail(Errc::unavailable, fmt::format("no new privileges: {}", std::strerror(errno)));
    filtered = ::prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER;
    g_handler_installed = true;
  }
  Rules rules;
  for (const auto& [begin, end] : policy.fenced) rules.fence(begin, end);
  rules.refuse_if(static_cast<int>(token), "prctl", 0, kProbe);
  add_common(rules);
  if (policy.stage == LockdownPolicy::Stage::loading) {
    add_loading(rules);
  } else {
    add_computing(rules);
  }
  for (const auto& name : policy.also_allowed) rules.allow(name.c_str());
  if (const long rc = rules.install(); rc != 0) {
    const bool absent = first && !filtered && (rc == -ENOSYS || rc == -EINVAL);
    return fail(absent ? Errc::unavailable : Errc::io,
                fmt::format("seccomp: {}", std::strerror(static_cast<int>(-rc))));
  }
  if (::prctl(static_cast<int>(kProbe), 0, 0, 0, 0) != -1 || errno != static_cast<int>(token))
    return fail(Errc::io, "seccomp: the filter is not in force");
  return {};
}

std::string system_call_name(int number) {
  const std::unique_ptr<char, void (*)(void*)> name(seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number),
                                                    std::free);
  return name ? std::string(name.get()) : std::to_string(number);
}

}  // namespace kerf
