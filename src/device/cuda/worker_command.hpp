#pragma once
// How GPU workers are started.

#include "device/cuda/cuda_device.hpp"
#include "worker/process.hpp"

namespace kerf::cuda {

/// A plain process: candidates bring no host code, and drivers need devices and calls that the sandbox refuses.
worker::Command worker_command(const CudaDeviceOptions& options, const std::string& kind);

}  // namespace kerf::cuda
