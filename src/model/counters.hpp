#pragma once
// What a machine's own counters saw of a kernel, as shares that mean the same on processors and GPUs.

#include <optional>
#include <string>

namespace kerf {

/// Taken over a few calls of their own, never over timed ones. What was not counted is absent.
struct Counters {
  std::string source;               ///< who counted: "perf", "ncu"
  bool on_host = false;             ///< of processor cores
  std::optional<double> memory;     ///< share of the memory bandwidth in use
  std::optional<double> compute;    ///< share of the multiprocessors' arithmetic and issue limits in use
  std::optional<double> workers;    ///< share of the workers that were busy: cores, or warps that fit on the GPU
  std::optional<double> stalled;    ///< share of a core's cycles in which it waited for data or units
  std::optional<double> per_cycle;  ///< instructions a core retired per cycle
  std::optional<double> misses;     ///< of the last-level cache, per thousand instructions
};

}  // namespace kerf
