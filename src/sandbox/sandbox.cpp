#include "sandbox/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "sandbox/base_filter.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/pids_cgroup.hpp"
#include "sandbox/process.hpp"
#include "sandbox/spawn.hpp"
#include "sandbox/spawner.hpp"

namespace kerf {
namespace {

/// What this kernel lets us use, found out by trying.
struct Walls {
  int landlock = 0;
  int namespaces = 0;  // CLONE_NEW* flags that work together
  Result<std::vector<sock_filter>> offline = make_base_filter(false);
  Result<std::vector<sock_filter>> online = make_base_filter(true);
};

int working_namespaces() {
  const int inner = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID;
  for (const int user : {CLONE_NEWUSER, 0}) {
    if (user != 0 ? !namespaces_work(user) : ::geteuid() != 0) continue;
    if (namespaces_work(user | inner)) return user | inner;
    int flags = user;
    for (const int one : {CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWPID}) {
      if (namespaces_work(flags | one)) flags |= one;
    }
    return flags;
  }
  return 0;
}

// Asked of the kernel once per process: the answers do not change while it runs.
const Walls& walls() {
  static const Walls found = [] {
    Walls probe;
    probe.landlock = landlock_version();
    probe.namespaces = working_namespaces();
    return probe;
  }();
  return found;
}

rlimit both(std::int64_t value) { return {static_cast<rlim_t>(value), static_cast<rlim_t>(value)}; }

std::vector<std::pair<int, rlimit>> resource_limits(const SandboxLimits& limits, int namespaces) {
  std::vector<std::pair<int, rlimit>> list = {{RLIMIT_CORE, both(0)}, {RLIMIT_FSIZE, both(limits.file_bytes)}};
  if (limits.memory_bytes > 0) list.emplace_back(RLIMIT_AS, both(limits.memory_bytes));
  if (limits.stack_bytes > 0) list.emplace_back(RLIMIT_STACK, both(limits.stack_bytes));
  if (limits.cpu.count() > 0) list.emplace_back(RLIMIT_CPU, both(limits.cpu.count()));
  // Outside a user namespace the kernel counts all processes of the user, ours too; root is not bound by it at all.
  if ((namespaces & CLONE_NEWUSER) != 0 && limits.processes > 0)
    list.emplace_back(RLIMIT_NPROC, both(limits.processes));
  return list;
}

class RealSandbox final : public Sandbox {
 public:
  Result<ProcessOutcome> run(const SandboxCommand& command) override {
    KERF_TRY(auto process, launch(command, Output::collect));
    return process->collect(command.limits.wall);
  }

  Result<std::unique_ptr<SandboxProcess>> start(const SandboxCommand& command) override {
    KERF_TRY(auto process, launch(command, Output::drop_when_full));
    return std::unique_ptr<SandboxProcess>(std::move(process));
  }

 private:
  enum class Output { collect, drop_when_full };

  Result<std::unique_ptr<RunningProcess>> launch(const SandboxCommand& command, Output output) {
    if (command.argv.empty() || command.argv[0].empty() || command.argv[0][0] != '/')
      return fail(Errc::invalid_input, "a sandboxed command needs the absolute path of its program");
    const Walls& here = walls();
    KERF_TRY(ProcessPipes pipes, ProcessPipes::make(output == Output::drop_when_full, command.stdin_text));

    SpawnPlan plan;
    plan.argv = command.argv;
    for (const auto& [name, value] : command.environment) plan.environment.push_back(name + "=" + value);
    plan.folder = command.folder.string();
    plan.fds = {{pipes.child_in.number(), 0}, {pipes.child_out.number(), 1}, {pipes.child_err.number(), 2}};
    plan.fds.insert(plan.fds.end(), command.pass_fds.begin(), command.pass_fds.end());
    plan.namespaces = here.namespaces & ~(command.network ? CLONE_NEWNET : 0);
    // Vendor drivers look for themselves in /proc, where numbers of a namespace of their own mean nothing.
    if (!command.restrict_files) plan.namespaces &= ~CLONE_NEWPID;
    plan.drop_capabilities = (plan.namespaces & CLONE_NEWUSER) == 0 && ::geteuid() == 0 && command.restrict_files;
    plan.limits = resource_limits(command.limits, plan.namespaces);
    // They open sockets, too, which lead nowhere in a network of their own.
    const auto& filter = command.network || !command.restrict_files ? here.online : here.offline;
    if (filter) plan.filter = &*filter;
    UniqueFd ruleset;
    if (command.restrict_files && here.landlock > 0) {
      FileRules rules{command.readable, command.writable, command.network};
      rules.readable.emplace_back(command.argv[0]);
      KERF_TRY(ruleset, make_landlock_ruleset(rules, here.landlock));
      plan.landlock_fd = ruleset.number();
    }
    return spawn_in_group(plan, command, std::move(pipes));
  }

  // A group can vanish under us (removed by a clean-up elsewhere); then a new one is tried.
  Result<std::unique_ptr<RunningProcess>> spawn_in_group(SpawnPlan& plan, const SandboxCommand& command,
                                                         ProcessPipes pipes) {
    const auto begin = std::chrono::steady_clock::now();
    for (int attempt = 0;; ++attempt) {
      auto group = command.limits.processes > 0 ? groups_.acquire(command.limits.processes) : nullptr;
      plan.cgroup_fd = group ? group->procs.number() : -1;
      auto spawned = spawner_.spawn(plan);
      if (!spawned && group && attempt == 0) continue;
      if (!spawned) {
        groups_.release(std::move(group));
        return tl::unexpected<Error>(std::move(spawned).error());
      }
      pipes.close_child_ends();
      const bool own_pids = (plan.namespaces & CLONE_NEWPID) != 0;
      return std::make_unique<RunningProcess>(*std::move(spawned), std::move(pipes), groups_, std::move(group),
                                              own_pids, command.max_output_bytes, begin);
    }
  }

  PidsCgroups groups_;
  Spawner spawner_;
};

}  // namespace

std::unique_ptr<Sandbox> make_sandbox() { return std::make_unique<RealSandbox>(); }

SandboxAbilities sandbox_abilities() {
  const Walls& here = walls();
  SandboxAbilities abilities;
  abilities.landlock_version = here.landlock;
  abilities.seccomp = here.offline.has_value();
  const int wanted = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID;
  abilities.namespaces = (here.namespaces & wanted) == wanted;
  auto& missing = abilities.missing;
  if (here.landlock == 0) missing.push_back("Landlock: sandboxed processes can read every file that you can read");
  if (!abilities.seccomp) missing.push_back("seccomp: only the other walls stand between kernels and the system");
  if ((here.namespaces & CLONE_NEWUSER) == 0) missing.push_back("user namespaces: processes keep your user id");
  if ((here.namespaces & CLONE_NEWNET) == 0)
    missing.push_back("network namespaces: the network is closed by seccomp alone");
  if ((here.namespaces & CLONE_NEWPID) == 0)
    missing.push_back("process namespaces: stray processes are ended by group only");
  if (::geteuid() == 0 ? !PidsCgroups().available() : (here.namespaces & CLONE_NEWUSER) == 0)
    missing.push_back("a limit on the number of processes: a fork bomb runs until its time limit");
  return abilities;
}

}  // namespace kerf
