#pragma once
// Runs a loaded kernel on checked data and judges what it left behind.

#include <chrono>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "verify/gates.hpp"

namespace kerf {

struct VerifyOptions {
  std::chrono::milliseconds call_limit{900};  ///< wall clock per call; the worker is killed after it
  Gate gate = Gate::small_shape;              ///< named by faults
  std::uint64_t seed = 0;                     ///< of the order of slots and poison patterns
  double repeat_us = 100'000;                 ///< time that the calls of batches may take
  int cores = 0;                              ///< of processors: calls of `verify` differ in OpenMP's number of threads
};

/// One call on slot `slot` of freshly staged data: nothing, or why the kernel is refused. An Error means the device
/// itself failed. `us`, when given, receives the call's time; `threads` is OpenMP's number of threads, 0: as it is.
Result<std::optional<Refusal>> verify_call(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& data,
                                           Poison poison, const std::vector<BufferSpec>& outputs,
                                           const VerifyOptions& options, double* us = nullptr, int threads = 0);

/// Runs the kernel on every data set, the first one under both poison patterns, on `slots` in random order, every
/// second call on average with another number of threads; then in batches without anything between the calls, on slots
/// with different data: a kernel that remembers earlier calls (in scratch, local memory, registers of the harness) and
/// skips work shows there. The results of every call are compared. `shortest_us`, when given, receives the time of the
/// shortest single call.
Result<std::optional<Refusal>> verify(Bench& bench, KernelHandle kernel,
                                      const std::vector<const oracle::DataSet*>& data, int slots,
                                      const std::vector<BufferSpec>& outputs, const VerifyOptions& options,
                                      double* shortest_us = nullptr);

}  // namespace kerf
