#include "device/opencl/opencl_device.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "device/arena/arena_bench.hpp"

namespace kerf {
namespace {

constexpr std::int64_t kLargestGpuCache = 256 << 20;

DeviceFacts facts_of(const OpenclDevice& device, int index) {
  DeviceFacts facts;
  facts.id = fmt::format("opencl:{}", index);
  facts.name = device.name;
  facts.driver = fmt::format("{} {} ({})", device.platform, device.driver, device.device_version);
  facts.arch = device.language_version;
  facts.compute_units = static_cast<int>(device.compute_units);
  facts.memory_bytes = device.memory_bytes;
  // NVIDIA's OpenCL reports the sum of the first-level caches; no GPU of today has more than this behind them.
  facts.cache_bytes = device.type == "gpu" ? std::max(device.cache_bytes, kLargestGpuCache) : device.cache_bytes;
  facts.max_threads_per_block = device.max_work_group;
  facts.max_shared_bytes = device.local_bytes;
  facts.runs_on_host = device.type == "cpu";
  return facts;
}

class OpenclDeviceImpl final : public Device {
 public:
  OpenclDeviceImpl(DeviceFacts facts, const OpenclOptions& options, ArenaPoolOptions pool)
      : facts_(std::move(facts)), pool_(*options.sandbox, *options.clock, std::move(pool)) {}

  const DeviceFacts& facts() const override { return facts_; }
  Result<std::unique_ptr<Bench>> open(const ProblemLayout& layout) override { return open_arena_bench(pool_, layout); }

 private:
  DeviceFacts facts_;
  ArenaPool pool_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_opencl_device(const OpenclOptions& options) {
  KERF_CHECK(options.sandbox != nullptr && options.clock != nullptr, "an OpenCL device borrows a sandbox and a clock");
  KERF_TRY(const auto device, probe_opencl_device(options));
  KERF_TRY(const auto folder, opencl_work_folder(options, "run"));
  const bool cpu = device.type == "cpu";
  ArenaPoolOptions pool;
  pool.self = options.self;
  pool.kind = "opencl";
  pool.args = {std::to_string(options.device), folder.string()};
  pool.environment = opencl_environment(options);
  pool.readable = opencl_readable(options);
  pool.writable = {folder};
  pool.restrict_files = cpu;
  pool.memory_bytes = cpu ? 8LL << 30 : 0;  // GPU drivers reserve address space by the terabyte
  pool.separate_memory = !cpu;
  pool.load_limit = std::chrono::milliseconds(60000);  // the driver's last code generation happens there
  return std::make_unique<OpenclDeviceImpl>(facts_of(device, options.device), options, std::move(pool));
}

std::vector<OpenclFinding> diagnose_opencl(const OpenclOptions& options) {
  const auto devices = probe_opencl(options);
  if (!devices) return {{"runtime", "", devices.error().message}};
  std::vector<OpenclFinding> findings;
  for (std::size_t i = 0; i < devices->size(); ++i) {
    const auto& device = (*devices)[i];
    findings.push_back({fmt::format("opencl:{}", i),
                        fmt::format("{} ({}, {} {}, {} compute units)", device.name, device.type, device.platform,
                                    device.driver, device.compute_units),
                        ""});
  }
  return findings;
}

}  // namespace kerf
