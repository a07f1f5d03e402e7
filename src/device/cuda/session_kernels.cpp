// Loading and running a candidate's kernels.

#include <algorithm>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "device/cuda/session.hpp"
#include "device/cuda/session_layout.hpp"

namespace kerf::cuda {
namespace {

constexpr std::uint64_t kWidestGrid = 0x7fffffff;  // x; y and z have 16 bits
constexpr std::uint64_t kOtherGrid = 65535;
constexpr int kFreeShared = 48 << 10;  // dynamic shared memory that needs no asking
constexpr std::size_t kMostArguments = 512;

std::uint64_t threads_of(const LaunchNumbers& launch) { return launch.block[0] * launch.block[1] * launch.block[2]; }

bool is_empty(const LaunchNumbers& launch) { return launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0; }

Status check_extents(const LaunchNumbers& launch) {
  for (int d = 0; d < 3; ++d) {
    const auto most = d == 0 ? kWidestGrid : kOtherGrid;
    if (launch.grid[static_cast<std::size_t>(d)] > most) {
      return fail(Errc::invalid_input,
                  fmt::format("kernel '{}': grid extent {} is {}, the device allows {}", launch.kernel, "xyz"[d],
                              launch.grid[static_cast<std::size_t>(d)], most));
    }
    const auto extent = launch.block[static_cast<std::size_t>(d)];
    if (extent < 1 || extent > (d == 2 ? 64u : 1024u)) {
      return fail(Errc::invalid_input, fmt::format("kernel '{}': block extent {} is {}, the device allows 1 to {}",
                                                   launch.kernel, "xyz"[d], extent, d == 2 ? 64 : 1024));
    }
  }
  return {};
}

}  // namespace

Status Session::check_resources(CUfunction function, const LaunchNumbers& launch) const {
  int most_threads = 0, registers = 0, own_shared = 0;
  KERF_CUDA(driver_, cuFuncGetAttribute, &most_threads, kFunctionMaxThreads, function);
  KERF_CUDA(driver_, cuFuncGetAttribute, &registers, kFunctionRegisters, function);
  KERF_CUDA(driver_, cuFuncGetAttribute, &own_shared, kFunctionSharedBytes, function);
  int local = 0;
  KERF_CUDA(driver_, cuFuncGetAttribute, &local, kFunctionLocalBytes, function);
  if (local > static_cast<int>(kMostLocalBytes)) {
    return fail(Errc::invalid_input,
                fmt::format("kernel '{}' uses {} bytes of local memory a thread; {} are allowed, which can be cleared "
                            "between calls. Use `scratch:` in the header for more",
                            launch.kernel, local, kMostLocalBytes));
  }
  if (threads_of(launch) > static_cast<std::uint64_t>(most_threads)) {
    return fail(Errc::invalid_input,
                fmt::format("kernel '{}' ({} registers a thread) runs with at most {} threads a block, the "
                            "launch asks for {}",
                            launch.kernel, registers, most_threads, threads_of(launch)));
  }
  const std::uint64_t shared = static_cast<std::uint64_t>(own_shared) + launch.shared_bytes;
  if (shared > static_cast<std::uint64_t>(max_shared_)) {
    return fail(Errc::invalid_input, fmt::format("kernel '{}' needs {} bytes of shared memory, the device gives {}",
                                                 launch.kernel, shared, max_shared_));
  }
  if (shared > kFreeShared) {
    KERF_CUDA(driver_, cuFuncSetAttribute, function, kFunctionMaxDynamicShared, static_cast<int>(launch.shared_bytes));
  }
  return {};
}

Status Session::check_arguments(CUfunction function, const LaunchNumbers& launch, std::size_t buffers) const {
  for (const auto argument : launch.args) {
    if (argument >= buffers) return fail(Errc::invalid_input, "a launch argument that is no buffer");
  }
  if (launch.args.size() > kMostArguments) return fail(Errc::invalid_input, "too many launch arguments");
  if (!driver_.cuFuncGetParamInfo) return {};
  std::size_t count = 0;
  for (std::size_t offset = 0, size = 0; count <= kMostArguments; ++count) {
    if (driver_.cuFuncGetParamInfo(function, count, &offset, &size) != kSuccess) break;
    if (size != sizeof(CUdeviceptr)) {
      return fail(Errc::invalid_input,
                  fmt::format("parameter {} of kernel '{}' has {} bytes; launches pass buffers, so every "
                              "parameter is a pointer (shape symbols are constants in the source)",
                              count + 1, launch.kernel, size));
    }
  }
  if (count != launch.args.size()) {
    return fail(Errc::invalid_input, fmt::format("kernel '{}' has {} parameters, the launch passes {}", launch.kernel,
                                                 count, launch.args.size()));
  }
  return {};
}

Result<LoadedLaunch> Session::prepare(const Modules& modules, LaunchNumbers numbers, std::size_t buffers) const {
  KERF_TRY_VOID(check_extents(numbers));
  KERF_TRY(const CUfunction function, modules.function(driver_, numbers.kernel));
  KERF_TRY_VOID(check_resources(function, numbers));
  KERF_TRY_VOID(check_arguments(function, numbers, buffers));
  return LoadedLaunch{function, std::move(numbers)};
}

Status Session::load_into(LoadedKernel& kernel, const std::string& cubin, const std::vector<std::uint64_t>& scratch,
                          std::vector<LaunchNumbers> launches, std::size_t buffers) {
  KERF_TRY_VOID(kernel.modules.load(driver_, cubin));
  for (const auto bytes : scratch) {
    KERF_TRY(const Zone zone, allocate_zone(bytes));
    kernel.scratch.push_back(zone);
  }
  for (auto& numbers : launches) {
    KERF_TRY(auto launch, prepare(kernel.modules, std::move(numbers), buffers + scratch.size()));
    int local = 0;
    KERF_CUDA(driver_, cuFuncGetAttribute, &local, kFunctionLocalBytes, launch.function);
    kernel.local_bytes = std::max(kernel.local_bytes, static_cast<std::uint64_t>(local));
    kernel.launches.push_back(std::move(launch));
  }
  std::vector<Job> jobs;
  for (const auto& zone : kernel.scratch) {
    jobs.push_back({Job::fill, zone.data(), 0, zone.bytes, 0xFFFF});
    red_jobs(jobs, Job::red_fill, zone);
  }
  return jobs.empty() ? Status{} : run_jobs(jobs).map([](const auto&) {});
}

void Session::free_kernel(LoadedKernel& kernel) {
  kernel.modules.unload(driver_);
  free_all(kernel.scratch);
}

Status Session::load(std::uint64_t handle, const std::string& cubin, const std::vector<std::uint64_t>& scratch,
                     std::vector<LaunchNumbers> launches) {
  unload(handle);
  const std::size_t buffers = slots_.empty() ? 0 : slots_.front().size();
  auto loaded = load_into(kernels_[handle], cubin, scratch, std::move(launches), buffers);
  if (!loaded) unload(handle);
  return loaded;
}

void Session::unload(std::uint64_t handle) {
  const auto it = kernels_.find(handle);
  if (it == kernels_.end()) return;
  free_kernel(it->second);
  kernels_.erase(it);
}

Status Session::enqueue(const LoadedKernel& kernel, const std::vector<CUdeviceptr>& buffers) {
  // Parameters that a launch does not name would be read from beyond the list; the driver finds zeros there.
  static std::array<std::uint64_t, kMostArguments> zeros{};
  std::array<CUdeviceptr, kMostArguments> values;
  std::array<void*, 2 * kMostArguments> parameters;
  for (const auto& [function, numbers] : kernel.launches) {
    if (is_empty(numbers)) continue;
    const std::size_t count = numbers.args.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto index = numbers.args[i];
      values[i] = index < buffers.size() ? buffers[index] : kernel.scratch[index - buffers.size()].data();
      parameters[i] = &values[i];
    }
    std::fill(parameters.begin() + static_cast<std::ptrdiff_t>(count), parameters.end(),
              static_cast<void*>(zeros.data()));
    const auto extent = [](std::uint64_t value) { return static_cast<unsigned>(value); };
    const int error =
        driver_.cuLaunchKernel(function, extent(numbers.grid[0]), extent(numbers.grid[1]), extent(numbers.grid[2]),
                               extent(numbers.block[0]), extent(numbers.block[1]), extent(numbers.block[2]),
                               extent(numbers.shared_bytes), stream_, parameters.data(), nullptr);
    if (error != kSuccess) {
      return fail(Errc::tool_failed,
                  fmt::format("kernel '{}': {}", numbers.kernel, driver_.describe("cuLaunchKernel", error)));
    }
  }
  return {};
}

Status Session::probe() {
  const CUdeviceptr result = work_ + kResultsAt;
  std::uint64_t value = 42;
  CUdeviceptr address = result;
  KERF_TRY_VOID(launch_own(probe_, 1, 1, {&value, &address}));
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, pinned_, result, sizeof value, stream_);
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  if (*reinterpret_cast<std::uint64_t*>(pinned_) != mix64(42))
    return fail(Errc::tool_failed, "the device miscomputes after this kernel");
  return {};
}

/// Local memory lies where the thread runs: enough threads to fill the device several times, each with at least as much
/// of it as the candidate's, reach all that a thread of the candidate left.
Status Session::scrub_local(std::uint64_t bytes) {
  if (scrub_local_.empty()) {
    CUmodule module = nullptr;
    KERF_CUDA(driver_, cuModuleLoadData, &module, local_cubin_.data());
    for (const auto size : kLocalScrubs) {
      const std::string name = fmt::format("kerf_scrub_local_{}", size);
      KERF_CUDA(driver_, cuModuleGetFunction, &scrub_local_[size], module, name.c_str());
    }
  }
  const auto fitting = scrub_local_.lower_bound(bytes);
  if (fitting == scrub_local_.end()) return fail(Errc::invalid_input, "more local memory than can be cleared");
  std::uint64_t seed = ++scrubs_ << 32;
  return launch_own(fitting->second, 4 * static_cast<unsigned>(multiprocessors_), 1024, {&seed});
}

Status Session::scrub(const LoadedKernel& kernel) {
  if (kernel.local_bytes > 0) KERF_TRY_VOID(scrub_local(kernel.local_bytes));
  std::uint64_t seed = ++scrubs_ << 32, words = static_cast<std::uint64_t>(max_shared_) / 8;
  // Each takes all of a multiprocessor's shared memory, that of its clusters' neighbours too; twice as many as fit.
  const auto blocks = 2 * static_cast<unsigned>(multiprocessors_);
  return launch_own(scrub_, blocks, 1024, {&seed, &words}, static_cast<unsigned>(max_shared_));
}

/// Leaves the L2 cache as a call of a kernel of this problem does: modified lines have the share that the outputs have
/// of all traffic. Staging leaves it full of modified lines, and whichever kernel comes first would be charged for
/// writing them back (50 MB on an H200: 11 us).
Status Session::settle_cache() {
  if (idle_ == 0 || slots_.empty()) return {};
  const auto cache = static_cast<std::uint64_t>(l2_bytes_);
  double read = 0, written = 0;
  for (std::size_t i = 0; i < slots_.front().size(); ++i)
    (i < inputs_ ? read : written) += static_cast<double>(slots_.front()[i].bytes);
  const double modified = std::min(written, static_cast<double>(cache) * written / std::max(read + written, 1.0));
  // What a kernel may have written there is gone: the last third here, the others by idle_is_intact().
  KERF_CUDA(driver_, cuMemsetD8Async, idle_ + 2 * cache, 0xA5, cache, stream_);
  return enqueue_jobs({{Job::sum, idle_, 0, 2 * cache, 0},
                       {Job::fill, idle_ + 2 * cache, 0, static_cast<std::uint64_t>(modified), 0}})
      .map([](auto) {});
}

Result<std::uint64_t> Session::enqueue_idle_sum() {
  return enqueue_jobs({{Job::sum, idle_, 0, 2 * static_cast<std::uint64_t>(l2_bytes_), 0}});
}

bool Session::idle_is_intact(std::uint64_t job) {
  const std::uint64_t sum = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt)[job];
  if (!idle_known_) idle_sum_ = sum;
  idle_known_ = true;
  return sum == idle_sum_;
}

Status Session::know_idle() {
  idle_known_ = idle_ == 0;
  if (idle_known_) return {};
  KERF_TRY(const std::uint64_t job, enqueue_idle_sum());
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  (void)idle_is_intact(job);
  return {};
}

Result<RunTimes> Session::run_timed(const LoadedKernel& kernel, const std::vector<std::vector<CUdeviceptr>>& buffers) {
  // Lines that an earlier kernel asked the cache to keep must not be there, and nothing else may be under way.
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  if (driver_.cuCtxResetPersistingL2Cache) (void)driver_.cuCtxResetPersistingL2Cache();
  // Long enough to queue the batch behind it (a launch takes the host 2 to 3 microseconds).
  constexpr std::uint64_t kPerLaunch = 3000, kBase = 10000, kMost = 3'000'000;
  std::uint64_t nanoseconds =
      std::min<std::uint64_t>(kMost, kBase + kPerLaunch * buffers.size() * kernel.launches.size());
  const Nanoseconds start = clock_.now();
  KERF_CUDA(driver_, cuEventRecord, before_delay_, stream_);
  KERF_TRY_VOID(scrub(kernel));
  KERF_TRY_VOID(settle_cache());
  KERF_CUDA(driver_, cuMemsetD8Async, work_, 0, kWorkBytes, stream_);
  KERF_TRY_VOID(launch_own(delay_, 1, 1, {&nanoseconds}));
  KERF_CUDA(driver_, cuEventRecord, begin_, stream_);
  for (const auto& list : buffers) KERF_TRY_VOID(enqueue(kernel, list));
  KERF_CUDA(driver_, cuEventRecord, end_, stream_);
  std::uint64_t job = 0;
  if (idle_ != 0) {
    KERF_TRY(job, enqueue_idle_sum());
  }
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  const Nanoseconds wall = clock_.now() - start;
  float batch = 0, delay = 0;
  KERF_CUDA(driver_, cuEventElapsedTime, &batch, begin_, end_);
  KERF_CUDA(driver_, cuEventElapsedTime, &delay, before_delay_, begin_);
  if (idle_ != 0 && !idle_is_intact(job))
    return fail(Errc::tool_failed, "the kernel wrote into memory that is not its own");
  return RunTimes{1000.0 * static_cast<double>(batch), static_cast<double>(wall.count()) / 1000.0,
                  1000.0 * static_cast<double>(delay)};
}

}  // namespace kerf::cuda
