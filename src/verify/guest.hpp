#pragma once
// Good guests: a kernel is called by programs that promise it little and want to find themselves as they were.

#include <optional>
#include <vector>

#include "verify/verify.hpp"

namespace kerf {

/// How thoroughly a kernel is looked at as a guest.
struct GuestVisit {
  bool smallest = true;         ///< the smallest shape: in every manner
  std::int64_t slot_bytes = 0;  ///< of the buffers, which are copied for every manner
  double call_us = 0;           ///< of one call
  bool flushes = true;          ///< one caller flushes denormals; not where data has ordinary numbers that are denormal
};

/// Calls the kernel on the slot in every manner of a guest (device/device.hpp) and checks what it computed. Where the
/// device offers no such calls they are ordinary ones. A refusal at Gate::side_effects means that the worker was
/// replaced. On shapes other than the smallest large buffers are copied once and slow kernels are not repeated.
Result<std::optional<Refusal>> verify_guest(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& checked,
                                            const std::vector<BufferSpec>& outputs, const GuestVisit& visit,
                                            const VerifyOptions& options);

}  // namespace kerf
