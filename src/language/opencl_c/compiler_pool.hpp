#pragma once
// OpenCL compiler processes: started when needed, warmed, kept, replaced after a crash or a hang.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "language/opencl_c/compile_protocol.hpp"
#include "worker/process.hpp"

namespace kerf::opencl {

/// The process crashed or ran past its limit on this source; `how` is for the candidate's author.
struct CompilerLost {
  std::string how;
};

/// Thread-safe.
class CompilerPool {
 public:
  CompilerPool(worker::Command command, int most_processes);

  /// Starts a first process without waiting for it.
  Status warm();

  /// An Error only when no compiler process can be had.
  Result<std::variant<BuildReply, CompilerLost>> build(const BuildRequest& request, std::chrono::milliseconds limit);

 private:
  struct Compiler {
    std::unique_ptr<worker::Process> process;
    bool greeted = false;
    int builds = 0;
  };
  Result<Compiler> acquire();
  Status greet(Compiler& compiler);
  void release(Compiler compiler);
  void forget();

  worker::Command command_;
  int most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int started_ = 0;             // guarded by mutex_: idle ones and those in use
  std::vector<Compiler> idle_;  // guarded by mutex_
};

}  // namespace kerf::opencl
