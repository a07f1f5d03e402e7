#pragma once
// A worker process: this binary started again by exec as `SELF worker KIND ARGS...`, with a Link to it.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sandbox/sandbox.hpp"
#include "worker/link.hpp"

namespace kerf::worker {

struct Command {
  std::filesystem::path self;  ///< binary that understands `worker KIND ...`
  std::string kind;
  std::vector<std::string> args;
  std::map<std::string, std::string> environment;  ///< the worker's whole environment
  Sandbox* sandbox = nullptr;                      ///< null: a plain process in a group of its own
  std::vector<std::filesystem::path> readable;     ///< in the sandbox, beside the system's libraries
  std::vector<std::filesystem::path> writable;     ///< in the sandbox
  bool restrict_files = true;                      ///< in the sandbox; off for drivers that need device files
  int processes = 64;                              ///< in the sandbox: threads and processes
};

/// Killed and reaped at the latest in the destructor. Not thread-safe.
class Process {
 public:
  static Result<std::unique_ptr<Process>> start(const Command& command);
  virtual ~Process() = default;

  virtual Status send(std::string_view payload, int passed_descriptor = -1) = 0;

  /// The next message. Errc::timeout when none came in `limit` (the process is still there), Errc::unavailable with how
  /// the process ended when it is gone.
  virtual Result<std::string> receive(std::chrono::milliseconds limit) = 0;

  virtual void kill() = 0;  ///< and reap; later sends and receives fail
};

}  // namespace kerf::worker
