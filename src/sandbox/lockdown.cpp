#include "sandbox/lockdown.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
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
    "getcpu",
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
    "getrandom",
    "sysinfo",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "restart_syscall",
    "membarrier",
};

constexpr const char* kLoading[] = {
    "read",   "pread64", "close",      "fstat",      "newfstatat", "lstat",     "stat",
    "statx",  "lseek",   "readlink",   "readlinkat", "access",     "faccessat", "faccessat2",
    "getcwd", "uname",   "getdents64", "mmap",       "mprotect",   "fcntl",     "seccomp",
};

// A process is locked down once and for all, so this state belongs to the process.
void (*g_on_forbidden)(int) = nullptr;  // set before the filter, read in the signal handler
bool g_handler_installed = false;

void handle_sigsys(int, siginfo_t* info, void*) {
  if (g_on_forbidden != nullptr) g_on_forbidden(info->si_syscall);
  ::syscall(SYS_exit_group, kForbiddenExit);
}

// Adds rules until one fails; names that this architecture does not have are skipped.
class Rules {
 public:
  Rules() : filter_(seccomp_init(SCMP_ACT_TRAP)) {
    error_ = filter_ ? seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    if (error_ == 0) error_ = seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (error_ == 0) error_ = seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_NNP, 0);  // set by lock_down itself
  }

  template <class... Conditions>
  void allow(const char* name, Conditions... conditions) {
    add(SCMP_ACT_ALLOW, name, conditions...);
  }
  template <class... Conditions>
  void refuse(int error, const char* name, Conditions... conditions) {
    add(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), name, conditions...);
  }
  int install() {
    if (error_ == 0) error_ = seccomp_load(filter_.get());
    return error_;
  }

 private:
  struct Release {
    void operator()(void* filter) const { seccomp_release(filter); }
  };

  template <class... Conditions>
  void add(std::uint32_t action, const char* name, Conditions... conditions) {
    if (error_ != 0) return;
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;
    const int rc = seccomp_rule_add(filter_.get(), action, number, sizeof...(conditions), conditions...);
    if (rc != -EDOM) error_ = rc;
  }

  std::unique_ptr<void, Release> filter_;
  int error_ = 0;
};

void add_common(Rules& rules) {
  for (const char* name : kComputing) rules.allow(name);
  // Threads of this process, not processes. clone3's flags cannot be read; the C library falls back to clone.
  rules.allow("clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  rules.refuse(ENOSYS, "clone3");
  // The C library's own two signals, set up when the first thread starts; nobody can send them.
  rules.allow("rt_sigaction", SCMP_A0(SCMP_CMP_EQ, 32));
  rules.allow("rt_sigaction", SCMP_A0(SCMP_CMP_EQ, 33));
  // abort() and the C library's last words.
  rules.allow("tgkill", SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())), SCMP_A2(SCMP_CMP_EQ, SIGABRT));
  rules.allow("write", SCMP_A0(SCMP_CMP_EQ, 2));
  rules.allow("writev", SCMP_A0(SCMP_CMP_EQ, 2));
  // Newer C libraries name their memory; without effect here.
  rules.refuse(EINVAL, "prctl", SCMP_A0(SCMP_CMP_EQ, 0x53564d41 /* PR_SET_VMA */));
}

void add_computing(Rules& rules) {
  // No new code: memory that is both new and executable would escape the static budget.
  rules.allow("mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  rules.allow("mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

void add_loading(Rules& rules) {
  for (const char* name : kLoading) rules.allow(name);
  const scmp_datum_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  rules.allow("openat", SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0));
  rules.allow("open", SCMP_A1(SCMP_CMP_MASKED_EQ, writing, 0));
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
  if (!g_handler_installed) {
    g_on_forbidden = policy.on_forbidden;
    KERF_TRY_VOID(install_handler());
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return fail(Errc::unavailable, fmt::format("no new privileges: {}", std::strerror(errno)));
    g_handler_installed = true;
  }
  Rules rules;
  add_common(rules);
  if (policy.stage == LockdownPolicy::Stage::loading) {
    add_loading(rules);
  } else {
    add_computing(rules);
  }
  for (const auto& name : policy.also_allowed) rules.allow(name.c_str());
  if (const int rc = rules.install(); rc != 0)
    return fail(Errc::unavailable, fmt::format("seccomp: {}", std::strerror(-rc)));
  return {};
}

Status forbid_calls_from(const void* begin, const void* end) {
  constexpr std::uint64_t kHalf = 1ULL << 32;
  constexpr auto kLow = static_cast<std::uint32_t>(offsetof(seccomp_data, instruction_pointer));
  std::vector<sock_filter> program;
  // The filter compares 32 bits at a time: one piece per value of the upper half. The kernel reports the address after
  // the instruction, so `end` itself still belongs to the range.
  const auto first = reinterpret_cast<std::uint64_t>(begin), last = reinterpret_cast<std::uint64_t>(end);
  for (std::uint64_t from = first; from <= last; from = (from / kHalf + 1) * kHalf) {
    const std::uint64_t to = std::min(last, from / kHalf * kHalf + (kHalf - 1));
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kLow + 4));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(from >> 32), 0, 4));
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kLow));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, static_cast<std::uint32_t>(from), 0, 2));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, static_cast<std::uint32_t>(to), 1, 0));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    return fail(Errc::unavailable, fmt::format("seccomp: {}", std::strerror(errno)));
  return {};
}

std::string system_call_name(int number) {
  const std::unique_ptr<char, void (*)(void*)> name(seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number),
                                                    std::free);
  return name ? std::string(name.get()) : std::to_string(number);
}

}  // namespace kerf
