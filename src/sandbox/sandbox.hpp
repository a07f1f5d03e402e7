#pragma once
// Runs an untrusted process under limits: Landlock (files), seccomp (system calls), namespaces (network, processes,
// IPC), rlimits (memory, time, files, processes) and its own process group. What the kernel does not offer is left out
// and reported by `sandbox_abilities`.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace kerf {

struct SandboxLimits {
  std::int64_t memory_bytes = 0;          ///< address space; 0: unlimited (needed where drivers map terabytes)
  std::int64_t stack_bytes = 64 << 20;    ///< of the first thread; OpenMP takes its threads' from the environment
  std::int64_t file_bytes = 256 << 20;    ///< largest file it may write
  int processes = 64;                     ///< processes and threads of the group, where enforceable
  std::chrono::milliseconds wall{10000};  ///< then the whole process group is killed; 0: no limit
  std::chrono::seconds cpu{0};            ///< RLIMIT_CPU; 0: none
};

struct SandboxCommand {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  ///< the whole environment of the process; nothing is inherited
  std::filesystem::path folder = "/";
  std::vector<std::filesystem::path> readable;  ///< beside the system's libraries and toolchain folders
  std::vector<std::filesystem::path> writable;
  bool network = false;
  bool restrict_files = true;  ///< Landlock, own process numbers, no sockets; off only for vendor drivers, which need
                               ///< devices, themselves in /proc, and sockets (of a network of their own)
  std::vector<std::pair<int, int>> pass_fds;  ///< (ours, number in the child)
  std::string stdin_text;
  std::int64_t max_output_bytes = 4 << 20;  ///< of stdout and stderr each; the rest is dropped and noted
  SandboxLimits limits;
};

struct ProcessOutcome {
  int exit_code = 0;  ///< valid when signal == 0
  int signal = 0;     ///< terminating signal
  bool timed_out = false;
  std::string out, err;
  double wall_ms = 0;
  std::int64_t max_rss_bytes = 0;
};

/// A started process; killing and reaping of the whole group happen at the latest in the destructor.
class SandboxProcess {
 public:
  virtual ~SandboxProcess() = default;
  virtual int pid() const = 0;  ///< in our pid namespace
  virtual bool alive() = 0;     ///< reaps without waiting
  /// Stops every thread of the process and all processes that it started; returns when all have stopped.
  virtual Status freeze() = 0;
  virtual Status thaw() = 0;
  virtual ProcessOutcome kill_and_wait() = 0;  ///< kills the group if it still runs; what it left on stdout/stderr
};

class Sandbox {
 public:
  virtual ~Sandbox() = default;
  virtual Result<ProcessOutcome> run(const SandboxCommand& command) = 0;
  virtual Result<std::unique_ptr<SandboxProcess>> start(const SandboxCommand& command) = 0;
};

/// The real one. Thread-safe.
std::unique_ptr<Sandbox> make_sandbox();

struct SandboxAbilities {
  int landlock_version = 0;  ///< 0: absent
  bool seccomp = false;
  bool namespaces = false;
  std::vector<std::string> missing;  ///< in words, with the consequence
};
SandboxAbilities sandbox_abilities();

}  // namespace kerf
