#pragma once
// What the OpenCL language and device need from the outside, and what a short-lived worker says about the OpenCL
// devices of this machine. The judge's process never opens an OpenCL library itself.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

inline constexpr const char* kOpenclRemedy = "apt install pocl-opencl-icd ocl-icd-libopencl1";

struct OpenclOptions {
  std::filesystem::path self;   ///< binary that understands `worker opencl...`
  std::filesystem::path cache;  ///< the drivers' files go to folders below it
  Sandbox* sandbox = nullptr;   ///< borrowed; required
  Clock* clock = nullptr;       ///< borrowed; required by the device
  int device = 0;               ///< index in the flat list of all devices of all platforms: opencl:N
  int compile_jobs = 0;         ///< compiler processes kept alive; 0: one per core
  /// The user's environment. Handed on: PATH, LD_LIBRARY_PATH and the loader's choice of drivers (OCL_ICD_VENDORS,
  /// OCL_ICD_FILENAMES; a path to a library such as libnvidia-opencl.so.1 works for both).
  std::map<std::string, std::string> environment;
};

struct OpenclDevice {
  std::string platform, name, vendor;
  std::string driver;            ///< driver version
  std::string device_version;    ///< "OpenCL 3.0 PoCL HSTR: ..."
  std::string language_version;  ///< "OpenCL C 1.2"
  std::string type;              ///< "cpu", "gpu", "accelerator"
  std::int64_t compute_units = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t cache_bytes = 0;
  std::int64_t max_work_group = 0;
  std::int64_t local_bytes = 0;
  bool fp64 = false, fp16 = false;
};

/// All OpenCL devices, in the order opencl:0, opencl:1, ... Errc::unavailable with the remedy when there is none.
Result<std::vector<OpenclDevice>> probe_opencl(const OpenclOptions& options);
/// The one that `options.device` names.
Result<OpenclDevice> probe_opencl_device(const OpenclOptions& options);

/// The whole environment of an OpenCL worker, and what it may read beside the system's libraries.
std::map<std::string, std::string> opencl_environment(const OpenclOptions& options);
std::vector<std::filesystem::path> opencl_readable(const OpenclOptions& options);
/// Folder for the files of `kind` ("compile", "run"), created; relative caches are made absolute.
Result<std::filesystem::path> opencl_work_folder(const OpenclOptions& options, const std::string& kind);

/// `kerf worker opencl-probe`: prints the devices as JSON. Exit code 0, or 3 with {"error": "..."} when there is none.
int opencl_probe_main(std::span<const std::string> args);

}  // namespace kerf
