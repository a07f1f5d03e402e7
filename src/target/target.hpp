#pragma once
// A target is a language on a device. This is the one list of what exists; nothing else names a language or a device
// kind.

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "language/language.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

/// Everything targets need from the outside, gathered once in app/.
struct TargetResources {
  std::filesystem::path self;   ///< the kerf binary, started again for workers
  std::filesystem::path cache;  ///< folder for compiled code and calibrations
  Sandbox* sandbox = nullptr;
  std::vector<std::string> nvrtc_folders;          ///< where the user says libnvrtc is, searched first
  int compile_jobs = 0;                            ///< compiler processes kept alive; 0: one per core
  std::map<std::string, std::string> environment;  ///< what the user's environment says (PATH, CUDA_HOME, ...)
  std::uint64_t secret = 0;  ///< random per process: keys that candidates must not guess derive from it
};

struct Target {
  std::string name;              ///< "cpu", "opencl", "cuda"
  std::unique_ptr<Clock> clock;  ///< the judge's clock, used by the device for its batches
  std::unique_ptr<Language> language;
  std::unique_ptr<Device> device;
};

/// One line of `kerf doctor`.
struct Finding {
  std::string target;
  std::string what;    ///< "compiler", "device", "runtime"
  std::string found;   ///< version and place, or "" when missing
  std::string remedy;  ///< how to get it; "" when nothing is missing
};

std::vector<std::string> target_names();
std::string target_for_extension(const std::string& extension);  ///< "" when unknown

/// Starts what the target needs; unavailable with what is missing and how to get it otherwise. `device` selects among
/// several ("opencl:1"); "" takes the first. With `compile_only` the device may be absent (device is null then).
Result<Target> make_target(const std::string& name, const TargetResources& context, const std::string& device = "",
                           bool compile_only = false);

std::vector<Finding> diagnose(const TargetResources& context);

/// Entry of `kerf worker KIND ...`: what the binary becomes when it is started as a worker. Exit code of the process.
int worker_main(const std::string& kind, std::span<const std::string> args);

}  // namespace kerf
