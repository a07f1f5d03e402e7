#pragma once
// Good guests: a kernel is called by programs that promise it little and want to find themselves as they were.

#include <optional>
#include <vector>

#include "verify/verify.hpp"

namespace kerf {

/// Calls the kernel on the slot in every manner of a guest (device/device.hpp) and checks what it computed. Where the
/// device offers no such calls they are ordinary ones. A refusal at Gate::side_effects means that the worker was
/// replaced.
Result<std::optional<Refusal>> verify_guest(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& checked,
                                            const std::vector<BufferSpec>& outputs, const VerifyOptions& options);

}  // namespace kerf
