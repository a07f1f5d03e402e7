#pragma once
// NVIDIA GPUs through the driver API. Benches live in worker processes (`kerf worker cuda`), which open libcuda at run
// time and own all device memory; the judge's process never loads a driver. A fault costs that worker only.
//
// What device code of a candidate could find is of no use to it: inputs lie in the slots it is given and, unchanged, in
// master copies; expected values and bounds are masked with a key that reaches the device only as an argument of the
// judge's own check, after the candidate has finished. Masters and masked data carry keyed sums that are verified
// whenever they are used, so stray writes of one candidate cannot spoil the verdict on the next.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "language/language.hpp"

namespace kerf {

/// Workers that are being started and the question what GPUs there are, under way.
struct CudaStart;

struct CudaDeviceOptions {
  std::filesystem::path self;    ///< binary that understands `worker cuda` and `worker cuda-probe`
  int index = 0;                 ///< N of "cuda:N"
  Language* language = nullptr;  ///< "cuda_cpp": compiles the judge's own kernels; borrowed
  std::filesystem::path cache;   ///< folder for them; empty: not kept
  std::uint64_t secret = 0;      ///< random per process: keys of masks, sums and red zones derive from it
  std::map<std::string, std::string> environment;  ///< the user's; CUDA_VISIBLE_DEVICES and library paths are passed on
  std::string driver_library = "libcuda.so.1";
  int spares = 1;                    ///< started workers kept waiting, so that a fault does not cost a start
  int started_ahead = 2;             ///< workers started while the device is being asked what it is
  std::shared_ptr<CudaStart> start;  ///< from begin_cuda_device; null: make_cuda_device begins by itself. Shared
                                     ///< because options are copied
  double data_fraction = 0.6;        ///< of device memory, for resident data sets of one bench
};

/// Every GPU there is. Unavailable, with the reason and a remedy, when there is no driver or no device.
Result<std::vector<DeviceFacts>> probe_cuda_devices(const CudaDeviceOptions& options);

/// Begins what takes a while and needs no compiler: `options.language` may still be null.
std::shared_ptr<CudaStart> begin_cuda_device(const CudaDeviceOptions& options);

/// Compiles the judge's kernels (or takes them from the cache); starts workers when a bench is opened.
Result<std::unique_ptr<Device>> make_cuda_device(const CudaDeviceOptions& options);

/// For `kerf doctor`: the driver and each device; "" in `found` when missing.
struct CudaDeviceFinding {
  std::string what, found, remedy;
};
std::vector<CudaDeviceFinding> diagnose_cuda_devices(const CudaDeviceOptions& options);

/// `kerf worker cuda ARGS...`, `... cuda-probe ARGS...` and `... cuda-calls ARGS...` (one call, for a profiler to look
/// at). Exit code of the process.
int cuda_worker_main(std::span<const std::string> args);
int cuda_probe_main(std::span<const std::string> args);
int cuda_calls_main(std::span<const std::string> args);

}  // namespace kerf
