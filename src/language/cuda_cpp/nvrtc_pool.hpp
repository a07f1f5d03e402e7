#pragma once
// Compiler processes, each with one libnvrtc: NVRTC serialises within a process, so parallel compiles need several.

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "worker/pool.hpp"

namespace kerf {

struct NvrtcProgram {
  std::string source;
  std::vector<std::string> options;
};

struct NvrtcCompiled {
  std::string cubin, ptx;
  std::string log;  ///< warnings
};
struct NvrtcRefused {
  std::string log;
  bool bad_option = false;  ///< the compiler does not know an option, for example the architecture
};
/// The process crashed or ran past its limit on this source.
struct NvrtcLost {
  std::string how;
};
using NvrtcOutcome = std::variant<NvrtcCompiled, NvrtcRefused, NvrtcLost>;

/// Thread-safe. Processes are started when they are needed and stay; each is warmed by a trivial compile.
class NvrtcPool {
 public:
  NvrtcPool(worker::Command command, int most_processes);

  /// Starts the first process; "13.0, V13.0.88".
  Result<std::string> version();

  /// An Error only when no process can be started.
  Result<NvrtcOutcome> compile(const NvrtcProgram& program, std::chrono::milliseconds limit);

 private:
  worker::Pool pool_;
};

}  // namespace kerf
