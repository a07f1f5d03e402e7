#pragma once
// OpenCL devices. Workers (`kerf worker opencl`) hold the driver; on processors buffers are the arena's memory itself,
// on devices with memory of their own they are copied before and after a batch.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "opencl/opencl_options.hpp"

namespace kerf {

/// The device `options.device` names. Errc::unavailable with the remedy when there is no OpenCL, not_found when there
/// is no such device. The sandbox and the clock must outlive it.
Result<std::unique_ptr<Device>> make_opencl_device(const OpenclOptions& options);

/// For `kerf doctor`: one entry per device, or one that says what is missing.
struct OpenclFinding {
  std::string what;    ///< "runtime" or "opencl:N"
  std::string found;   ///< "" when missing
  std::string remedy;  ///< "" when nothing is missing
};
std::vector<OpenclFinding> diagnose_opencl(const OpenclOptions& options);

/// `kerf worker opencl DEVICE FOLDER`. Exit code of the process.
int opencl_worker_main(std::span<const std::string> args);

}  // namespace kerf
