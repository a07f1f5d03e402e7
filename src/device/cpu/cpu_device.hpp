#pragma once
// The host's processor as a device. Kernels are shared objects, called in locked-down worker processes.

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

struct CpuDeviceOptions {
  std::filesystem::path self;             ///< binary that answers `worker cpu` with cpu_worker_main
  Sandbox* sandbox = nullptr;             ///< borrowed
  Clock* clock = nullptr;                 ///< borrowed; null: the system's monotonic clock
  int threads = 0;                        ///< OpenMP threads of a kernel; 0: the cores this process may use
  int spare_workers = 2;                  ///< kept started, so that loading does not wait for a process
  std::int64_t memory_bytes = 4LL << 30;  ///< address space of a kernel beside its buffers and its threads' stacks
};

Result<std::unique_ptr<Device>> make_cpu_device(const CpuDeviceOptions& options);

/// What the binary becomes when it is started as `worker cpu`: the exit code of the process.
int cpu_worker_main(std::span<const std::string> args);

}  // namespace kerf
