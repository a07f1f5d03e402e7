#include <future>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "device/cuda/bench.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/judge_kernels.hpp"
#include "device/cuda/worker_pool.hpp"

namespace kerf {
namespace {

/// Trusted kernels for this architecture, from the cache or the compiler.
Result<std::string> judge_cubin(const CudaDeviceOptions& options, const std::string& arch, const std::string& source,
                                std::vector<std::string> entry_points) {
  const auto name = sha256_hex(source + '\0' + options.language->version() + '\0' + arch).substr(0, 32);
  const auto path = options.cache / fmt::format("judge-{}-{}.cubin", arch, name);
  if (!options.cache.empty()) {
    if (auto kept = read_file(path); kept && kept->size() > 64) return *std::move(kept);
  }
  CompileRequest request;
  request.source = source;
  request.arch = arch;
  request.entry_points = std::move(entry_points);
  KERF_TRY(auto outcome, options.language->compile(request));
  if (const auto* failed = std::get_if<CompileFailed>(&outcome)) {
    return fail(Errc::tool_failed, fmt::format("the judge's own kernels do not compile for {}: {}", arch, failed->log));
  }
  auto bytes = std::get<Artifact>(std::move(outcome)).bytes;
  if (!options.cache.empty()) (void)write_file_atomic(path, bytes);  // without the cache the next start compiles again
  return bytes;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(CudaDeviceOptions options, DeviceFacts facts, std::unique_ptr<cuda::WorkerPool> pool)
      : options_(std::move(options)), facts_(std::move(facts)), pool_(std::move(pool)) {}

  const DeviceFacts& facts() const override { return facts_; }

  Result<std::unique_ptr<Bench>> open(const ProblemLayout& layout) override {
    auto bench = std::make_unique<cuda::CudaBench>(*pool_, clock_, facts_, options_, layout);
    KERF_TRY_VOID(bench->start());
    return bench;
  }

 private:
  CudaDeviceOptions options_;
  DeviceFacts facts_;
  SystemClock clock_;
  std::unique_ptr<cuda::WorkerPool> pool_;
};

}  // namespace

struct CudaStart {
  std::unique_ptr<cuda::WorkerPool> pool;
  std::future<Result<std::vector<DeviceFacts>>> devices;
};

std::shared_ptr<CudaStart> begin_cuda_device(const CudaDeviceOptions& options) {
  auto start = std::make_shared<CudaStart>();
  start->devices = std::async(std::launch::async, [options] { return probe_cuda_devices(options); });
  start->pool = std::make_unique<cuda::WorkerPool>(options);
  start->pool->start_ahead(options.started_ahead);
  return start;
}

Result<std::unique_ptr<Device>> make_cuda_device(const CudaDeviceOptions& options) {
  if (!options.language)
    return fail(Errc::unavailable, "a CUDA device needs the cuda_cpp language to compile its checks");
  const auto start = options.start ? options.start : begin_cuda_device(options);
  KERF_TRY(const auto devices, start->devices.get());
  auto pool = std::move(start->pool);
  if (options.index < 0 || static_cast<std::size_t>(options.index) >= devices.size()) {
    return fail(Errc::not_found, fmt::format("no device cuda:{}; there are {}", options.index, devices.size()));
  }
  const auto& facts = devices[static_cast<std::size_t>(options.index)];
  KERF_TRY(auto cubin, judge_cubin(options, facts.arch, cuda::judge_source(), cuda::judge_entry_points()));
  KERF_TRY(auto local, judge_cubin(options, facts.arch, cuda::judge_local_source(), {}));
  pool->set_judge(std::move(cubin), std::move(local));
  return std::make_unique<CudaDevice>(options, facts, std::move(pool));
}

}  // namespace kerf
