#pragma once
// Runs a loaded kernel on checked data and judges what it left behind.

#include <chrono>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "verify/gates.hpp"

namespace kerf {

/// A data set with what is known about honest kernels on it.
struct CheckedData {
  oracle::DataSet data;
  HonestAccuracy honest;
};

struct VerifyOptions {
  std::chrono::milliseconds call_limit{900};  ///< wall clock per call; the worker is killed after it
  Gate gate = Gate::small_shape;              ///< named by faults
};

/// One call on slot `slot` of freshly staged data: nothing, or why the kernel is refused. An Error means the device
/// itself failed. `us`, when given, receives the call's time.
Result<std::optional<Refusal>> verify_call(Bench& bench, KernelHandle kernel, int slot, const CheckedData& checked,
                                           Poison poison, const std::vector<BufferSpec>& outputs,
                                           const VerifyOptions& options, double* us = nullptr);

/// Runs the kernel on every data set, the first one under both poison patterns, rotating over `slots`; then several
/// times in one batch without anything between the calls, on slots with different data: a kernel that remembers earlier
/// calls (in scratch, local memory, registers of the harness) and skips work shows there.
Result<std::optional<Refusal>> verify(Bench& bench, KernelHandle kernel, const std::vector<const CheckedData*>& data,
                                      int slots, const std::vector<BufferSpec>& outputs, const VerifyOptions& options);

}  // namespace kerf
