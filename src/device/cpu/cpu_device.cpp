#include "device/cpu/cpu_device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/arena/arena_bench.hpp"
#include "device/cpu/cpu_facts.hpp"

namespace kerf {
namespace {

constexpr std::int64_t kThreadStackBytes = 16LL << 20;
constexpr std::int64_t kThreadHeapBytes = 128LL << 20;  // address space the C library sets aside for a thread's heap

ArenaPoolOptions pool_options(const CpuDeviceOptions& options, int threads) {
  ArenaPoolOptions pool;
  pool.self = options.self;
  pool.kind = "cpu";
  pool.environment = {{"LC_ALL", "C"},
                      {"OMP_NUM_THREADS", std::to_string(threads)},
                      {"OMP_DYNAMIC", "false"},
                      {"OMP_PROC_BIND", "true"},
                      {"OMP_STACKSIZE", fmt::format("{}B", kThreadStackBytes)}};
  pool.memory_bytes =
      options.memory_bytes + SandboxLimits{}.stack_bytes + threads * (kThreadStackBytes + kThreadHeapBytes);
  pool.processes = std::max(256, 4 * threads);
  pool.spares = options.spare_workers;
  pool.counts_threads = true;
  return pool;
}

class CpuDevice final : public Device {
 public:
  CpuDevice(const CpuDeviceOptions& options, DeviceFacts facts, int threads)
      : facts_(std::move(facts)),
        pool_(*options.sandbox, options.clock != nullptr ? *options.clock : clock_, pool_options(options, threads)) {}

  const DeviceFacts& facts() const override { return facts_; }
  Result<std::unique_ptr<Bench>> open(const ProblemLayout& layout) override { return open_arena_bench(pool_, layout); }

 private:
  SystemClock clock_;
  const DeviceFacts facts_;
  ArenaPool pool_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const CpuDeviceOptions& options) {
  KERF_CHECK(options.sandbox != nullptr, "kernels run in a sandbox");
  if (!std::filesystem::exists(options.self))
    return fail(Errc::not_found, fmt::format("the worker's binary {} does not exist", options.self.string()));
  DeviceFacts facts = read_cpu_facts();
  const int threads = options.threads > 0 ? options.threads : facts.compute_units;
  return std::make_unique<CpuDevice>(options, std::move(facts), threads);
}

}  // namespace kerf
