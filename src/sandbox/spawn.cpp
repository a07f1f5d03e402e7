#include "sandbox/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kerf {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;
constexpr int kInnerId = 1000;  // any id but root's: exec then leaves the process without capabilities

struct Child {
  const SpawnPlan* plan;
  std::vector<char*> argv, environment;
  std::vector<int> moved;  // where each source descriptor is parked
  std::string uid_map, gid_map;
  sock_fprog filter;
  int highest_fd = 2;
  bool only_probe = false;
  // Written by the child, read by the parent after the child's exec or exit.
  const char* failed_step = nullptr;
  int error = 0;
};

bool write_file(const char* path, const char* text, std::size_t size) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text, size) == static_cast<ssize_t>(size);
  ::close(fd);
  return written;
}

// Handlers were reset by nobody yet: a signal must not run the parent's code on the shared memory.
void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < 32; ++number) {
    if (number != SIGKILL && number != SIGSTOP) ::sigaction(number, &standard, nullptr);
  }
}

bool map_ids(const Child& child) {
  if ((child.plan->namespaces & CLONE_NEWUSER) == 0) return true;
  return write_file("/proc/self/setgroups", "deny", 4) &&
         write_file("/proc/self/uid_map", child.uid_map.data(), child.uid_map.size()) &&
         write_file("/proc/self/gid_map", child.gid_map.data(), child.gid_map.size());
}

// Parks the sources above every target first, so that no move overwrites a source that is still needed.
bool place_fds(Child& child) {
  const auto& fds = child.plan->fds;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    child.moved[i] = ::fcntl(fds[i].first, F_DUPFD, child.highest_fd + 1);
    if (child.moved[i] < 0) return false;
  }
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (::dup2(child.moved[i], fds[i].second) < 0) return false;
  }
  for (int fd = 0; fd <= child.highest_fd; ++fd) {
    bool wanted = false;
    for (const auto& pair : fds) wanted = wanted || pair.second == fd;
    if (!wanted) ::close(fd);
  }
  return true;
}

bool close_others(const Child& child) {
  // The ruleset is needed for one more step; it was parked like the others, just above the highest target.
  return ::syscall(SYS_close_range, static_cast<unsigned>(child.highest_fd + 1), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

bool drop_capabilities() {
  if (::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  return ::syscall(SYS_capset, &header, none) == 0;
}

bool set_limits(const SpawnPlan& plan) {
  for (const auto& [resource, wanted] : plan.limits) {
    rlimit limit = wanted, there{};
    const auto which = static_cast<__rlimit_resource_t>(resource);
    // The user's own limits may be lower already, and cannot be raised.
    if (::getrlimit(which, &there) == 0 && limit.rlim_max > there.rlim_max) limit.rlim_max = there.rlim_max;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(which, &limit) != 0) return false;
  }
  return true;
}

int give_up(Child& child, const char* step) {
  child.failed_step = step;
  child.error = errno;
  ::_exit(127);
}

// No sanitizer in the child: it shares the parent's memory and must not touch a runtime's state.
__attribute__((no_sanitize("address", "thread", "undefined"))) int child_main(void* argument) {
  Child& child = *static_cast<Child*>(argument);
  const SpawnPlan& plan = *child.plan;
  reset_signals();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return give_up(child, "parent-death signal");
  if (::setsid() < 0) return give_up(child, "new session");
  if (plan.cgroup_fd >= 0 && ::write(plan.cgroup_fd, "0", 1) != 1) return give_up(child, "joining the control group");
  write_file("/proc/self/oom_score_adj", "1000",
             4);  // best effort: under memory pressure the sandboxed process dies first
  if (!map_ids(child)) return give_up(child, "user namespace");
  if (child.only_probe) ::_exit(0);
  if (!plan.folder.empty() && ::chdir(plan.folder.c_str()) != 0) return give_up(child, "changing folder");
  if (plan.drop_capabilities && !drop_capabilities()) return give_up(child, "dropping capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return give_up(child, "no new privileges");
  if (plan.landlock_fd >= 0 && ::syscall(SYS_landlock_restrict_self, plan.landlock_fd, 0) != 0)
    return give_up(child, "Landlock");
  if (!place_fds(child) || !close_others(child)) return give_up(child, "file descriptors");
  if (!set_limits(plan)) return give_up(child, "resource limits");
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.filter != nullptr && ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &child.filter) != 0)
    return give_up(child, "seccomp");
  ::execve(child.argv[0], child.argv.data(), child.environment.data());
  return give_up(child, "exec");
}

struct ChildStack {
  void* base = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  ~ChildStack() {
    if (base != MAP_FAILED) ::munmap(base, kStackBytes);
  }
};

Result<Spawned> clone_child(Child& child) {
  const ChildStack stack;
  if (stack.base == MAP_FAILED) return fail(Errc::io, "no memory for a child's stack");
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  const int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | child.plan->namespaces;
  const int pid = ::clone(child_main, static_cast<char*>(stack.base) + kStackBytes, flags, &child, &pidfd);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(Errc::unavailable, fmt::format("a process cannot be started: {}", std::strerror(error)));
  return Spawned{pid, UniqueFd(pidfd)};
}

Child make_child(const SpawnPlan& plan) {
  Child child{};
  child.plan = &plan;
  for (const auto& word : plan.argv) child.argv.push_back(const_cast<char*>(word.c_str()));
  for (const auto& word : plan.environment) child.environment.push_back(const_cast<char*>(word.c_str()));
  child.argv.push_back(nullptr);
  child.environment.push_back(nullptr);
  child.moved.resize(plan.fds.size());
  for (const auto& pair : plan.fds) child.highest_fd = std::max(child.highest_fd, pair.second);
  child.uid_map = fmt::format("{} {} 1", kInnerId, ::geteuid());
  child.gid_map = fmt::format("{} {} 1", kInnerId, ::getegid());
  if (plan.filter != nullptr) {
    child.filter = {static_cast<unsigned short>(plan.filter->size()), const_cast<sock_filter*>(plan.filter->data())};
  }
  return child;
}

void reap(int pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Spawned> spawn(const SpawnPlan& plan) {
  Child child = make_child(plan);
  KERF_TRY(Spawned spawned, clone_child(child));
  if (child.failed_step != nullptr) {
    reap(spawned.pid);
    return fail(Errc::unavailable, fmt::format("cannot start {}: {}: {}", plan.argv.front(), child.failed_step,
                                               std::strerror(child.error)));
  }
  return spawned;
}

bool namespaces_work(int flags) {
  SpawnPlan plan;
  plan.namespaces = flags;
  Child child = make_child(plan);
  child.only_probe = true;
  auto spawned = clone_child(child);
  if (!spawned) return false;
  reap(spawned->pid);
  return child.failed_step == nullptr;
}

}  // namespace kerf
