#pragma once
// Whether a device can run a launch plan with a built program; every refusal says what to change. Private to the
// worker.

#include "base/result.hpp"
#include "device/arena/arena_worker.hpp"
#include "opencl/cl_library.hpp"

namespace kerf::opencl {

/// A kernel object for the launch; errors for an unknown name, wrong arguments or a geometry the device refuses.
Result<cl_kernel> create_checked_kernel(const ClSession& session, cl_program program,
                                        const arena::LaunchNumbers& launch);

}  // namespace kerf::opencl
