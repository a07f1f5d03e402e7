#pragma once
// OpenCL C through the device's own driver, in a pool of compiler processes (`kerf worker opencl-compile`). Artifacts
// are program binaries as the driver gives them out; they load on the same device and driver only.

#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "language/language.hpp"
#include "opencl/opencl_options.hpp"

namespace kerf {

/// Asks the driver which device `options.device` is (in a short-lived worker) and starts a first compiler process.
/// Errc::unavailable with the remedy when there is no OpenCL.
Result<std::unique_ptr<Language>> make_opencl_language(const OpenclOptions& options);

/// `kerf worker opencl-compile DEVICE FOLDER`. Exit code of the process.
int opencl_compile_main(std::span<const std::string> args);

}  // namespace kerf
