// The judge's own kernels: staging, comparing, verifying.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "device/cuda/session.hpp"
#include "device/cuda/session_layout.hpp"

namespace kerf::cuda {
Status Session::launch_own(CUfunction function, unsigned blocks, unsigned threads,
                           std::initializer_list<void*> arguments, unsigned shared_bytes) {
  std::array<void*, 24> list{};
  KERF_CHECK(arguments.size() < list.size(), "the judge's kernels have fewer parameters");
  std::copy(arguments.begin(), arguments.end(), list.begin());
  KERF_CUDA(driver_, cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream_, list.data(),
            nullptr);
  return {};
}

void Session::red_jobs(std::vector<Job>& jobs, Job::Kind kind, const Zone& zone) const {
  const CUdeviceptr end = zone.data() + zone.bytes;
  jobs.push_back({kind, zone.base, 0, zone.front, 0});
  jobs.push_back({kind, end, 0, zone.base + zone.total() - end, 0});
}

Result<std::uint64_t> Session::enqueue_jobs(const std::vector<Job>& jobs) {
  const std::uint64_t at = next_job_;
  if (at + jobs.size() > kMostJobs) return fail(Errc::invalid_input, "too many buffers");
  next_job_ += jobs.size();
  const std::uint64_t list_at = kJobsAt + at * sizeof(Job), results_at = kResultsAt + at * sizeof(std::uint64_t);
  std::memcpy(pinned_ + list_at, jobs.data(), jobs.size() * sizeof(Job));
  KERF_CUDA(driver_, cuMemcpyHtoDAsync_v2, work_ + list_at, pinned_ + list_at, jobs.size() * sizeof(Job), stream_);
  KERF_CUDA(driver_, cuMemsetD8Async, work_ + results_at, 0, jobs.size() * sizeof(std::uint64_t), stream_);
  std::uint64_t largest = 0;
  for (const auto& job : jobs) largest = std::max(largest, job.bytes);
  const auto wanted = (largest / 16 + kThreads - 1) / kThreads;
  CUdeviceptr list = work_ + list_at, results = work_ + results_at;
  std::uint64_t count = jobs.size();
  // Red zones are worked on word by word, so there is always enough for several blocks on every multiprocessor.
  const auto least = 4 * static_cast<std::uint64_t>(multiprocessors_);
  const auto blocks = std::min<std::uint64_t>(std::max(wanted, least), most_blocks_);
  KERF_TRY_VOID(
      launch_own(jobs_, static_cast<unsigned>(blocks), kThreads, {&list, &count, &results, &red_key_, &sum_key_}));
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, pinned_ + results_at, results, jobs.size() * sizeof(std::uint64_t), stream_);
  return at;
}

Result<std::vector<std::uint64_t>> Session::run_jobs(const std::vector<Job>& jobs) {
  next_job_ = 0;
  KERF_TRY(const std::uint64_t at, enqueue_jobs(jobs));
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  next_job_ = 0;
  const auto* results = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt) + at;
  return std::vector<std::uint64_t>(results, results + jobs.size());
}

Result<unsigned> Session::enqueue_compare(std::size_t area, const CompareRequest& request, std::uint64_t slot,
                                          std::uint64_t id, std::uint64_t inputs, std::uint64_t output,
                                          bool nan_is_free) {
  KERF_TRY(const auto* arrays, resident(id));
  KERF_TRY(const Zone* zone, buffer(slot, request.buffer));
  if (bound_array(inputs, output) >= arrays->size()) return fail(Errc::invalid_input, "a data set for another problem");
  const auto& expected = (*arrays)[expected_array(inputs, output)];
  const auto& bound = (*arrays)[bound_array(inputs, output)];
  if (expected.bytes != request.count * 8 || bound.bytes != request.count * (request.wide_bound ? 8 : 4)) {
    return fail(Errc::invalid_input, "a data set for another problem");
  }
  const auto wanted = (request.count + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, most_blocks_));
  CUdeviceptr actual = zone->data(), expected_at = expected.data, bound_at = bound.data;
  CUdeviceptr partials = work_ + kPartialsAt + area * kPartialArea;
  std::uint64_t dtype = request.dtype, wide = request.wide_bound, count = request.count, free_nan = nan_is_free ? 1 : 0;
  std::uint64_t expected_key = request.expected_key, bound_key = request.bound_key;
  std::uint64_t second_key = request.second_key;
  auto most = std::bit_cast<std::uint64_t>(request.most), unit = std::bit_cast<std::uint64_t>(request.unit);
  auto relative = std::bit_cast<std::uint64_t>(request.relative),
       absolute = std::bit_cast<std::uint64_t>(request.absolute);
  CUdeviceptr octaves = work_ + kOctavesAt + area * kOctaveArea;
  KERF_CUDA(driver_, cuMemsetD8Async, octaves, 0, kOctaveArea, stream_);
  KERF_TRY_VOID(launch_own(compare_, blocks, kThreads,
                           {&dtype, &actual, &expected_at, &bound_at, &wide, &count, &expected_key, &bound_key,
                            &second_key, &free_nan, &most, &unit, &relative, &absolute, &octaves, &partials}));
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, pinned_ + kOctavesAt + area * kOctaveArea, octaves, kOctaveArea, stream_);
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, pinned_ + kPartialsAt + area * kPartialArea, partials,
            blocks * sizeof(ComparePartial), stream_);
  return blocks;
}

}  // namespace kerf::cuda
