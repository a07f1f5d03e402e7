// The judge's own kernels: staging, comparing, verifying.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "device/cuda/session.hpp"
#include "device/cuda/session_layout.hpp"

namespace kerf::cuda {
namespace {

void merge(ComparePartial& into, const ComparePartial& part) {
  into.compared += part.compared;
  into.wrong += part.wrong;
  into.squares += part.squares;
  into.sum_squares += part.sum_squares;
  into.expected_sum += part.expected_sum;
  into.bound_sum += part.bound_sum;
  into.largest = std::max(into.largest, part.largest);
  into.worst_run = std::max(into.worst_run, part.worst_run);
  if (part.worst_ratio > into.worst_ratio || (part.worst_ratio == into.worst_ratio && part.worst < into.worst)) {
    into.worst_ratio = part.worst_ratio;
    into.worst = part.worst;
    into.worst_actual = part.worst_actual;
    into.worst_expected = part.worst_expected;
    into.worst_bound = part.worst_bound;
  }
}

}  // namespace

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
  jobs.push_back({kind, zone.base, 0, kRedZone, 0});
  jobs.push_back({kind, end, 0, zone.base + zone.total() - end, 0});
}

Status Session::enqueue_jobs(const std::vector<Job>& jobs, std::uint64_t at) {
  if (at + jobs.size() > kMostJobs) return fail(Errc::invalid_input, "too many buffers");
  const std::uint64_t list_at = kJobsAt + at * sizeof(Job), results_at = kResultsAt + at * sizeof(std::uint64_t);
  std::memcpy(pinned_ + list_at, jobs.data(), jobs.size() * sizeof(Job));
  KERF_CUDA(driver_, cuMemcpyHtoDAsync_v2, work_ + list_at, pinned_ + list_at, jobs.size() * sizeof(Job), stream_);
  KERF_CUDA(driver_, cuMemsetD8Async, work_ + results_at, 0, jobs.size() * sizeof(std::uint64_t), stream_);
  std::uint64_t largest = 0;
  for (const auto& job : jobs) largest = std::max(largest, job.bytes);
  const auto wanted = (largest / 16 + kThreads - 1) / kThreads;
  CUdeviceptr list = work_ + list_at, results = work_ + results_at;
  std::uint64_t count = jobs.size();
  // Red zones are worked on byte by byte, so there is always enough for a few blocks.
  const auto blocks = std::min<std::uint64_t>(std::max<std::uint64_t>(wanted, 64), most_blocks_);
  KERF_TRY_VOID(
      launch_own(jobs_, static_cast<unsigned>(blocks), kThreads, {&list, &count, &results, &red_key_, &sum_key_}));
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, pinned_ + results_at, results, jobs.size() * sizeof(std::uint64_t), stream_);
  return {};
}

Result<std::vector<std::uint64_t>> Session::run_jobs(const std::vector<Job>& jobs) {
  KERF_TRY_VOID(enqueue_jobs(jobs));
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  const auto* results = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt);
  return std::vector<std::uint64_t>(results, results + jobs.size());
}

Result<bool> Session::stage(std::uint64_t slot, std::uint64_t id, std::uint64_t inputs, std::uint16_t poison) {
  KERF_TRY(const auto* arrays, resident(id));
  if (slot >= slots_.size() || inputs > slots_[slot].size() || inputs > arrays->size()) {
    return fail(Errc::invalid_input, "no such slot, or a data set for another problem");
  }
  inputs_ = inputs;
  std::vector<Job> jobs;
  for (std::uint64_t i = 0; i < inputs; ++i) {  // first, so that results[i] is the sum of array i
    const auto& zone = slots_[slot][i];
    const auto& array = (*arrays)[i];
    if (zone.bytes != array.bytes) return fail(Errc::invalid_input, "a data set for another problem");
    jobs.push_back({Job::copy, zone.data(), array.data, array.bytes, array.salt});
  }
  // Expected values and bounds too: what is found spoiled at the check was spoiled by the kernels run in between.
  for (std::size_t i = inputs; i < arrays->size(); ++i) {
    const auto& array = (*arrays)[i];
    jobs.push_back({Job::sum, array.data, 0, array.bytes, array.salt});
  }
  const auto poison_zone = [&](const Zone& zone) { jobs.push_back({Job::fill, zone.data(), 0, zone.bytes, poison}); };
  for (std::uint64_t i = 0; i < slots_[slot].size(); ++i) {
    const auto& zone = slots_[slot][i];
    if (i >= inputs) poison_zone(zone);
    red_jobs(jobs, Job::red_fill, zone);
  }
  for (const auto& [handle, kernel] : kernels_) {
    for (const auto& zone : kernel.scratch) {
      poison_zone(zone);
      red_jobs(jobs, Job::red_fill, zone);
    }
  }
  KERF_TRY(const auto sums, run_jobs(jobs));
  for (std::size_t i = 0; i < arrays->size(); ++i) {
    if (sums[i] != (*arrays)[i].sum) return false;
  }
  return true;
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

Result<CheckAnswer> Session::check(std::uint64_t slot, std::uint64_t id, std::uint64_t inputs, bool nan_is_free,
                                   const std::vector<CompareRequest>& outputs) {
  KERF_TRY(const auto* arrays, resident(id));
  if (slot >= slots_.size() || inputs > arrays->size() || inputs > slots_[slot].size()) {
    return fail(Errc::invalid_input, "no such slot, or a data set for another problem");
  }
  if (outputs.size() > kMostOutputs) return fail(Errc::invalid_input, "too many outputs");
  const auto& zones = slots_[slot];
  std::vector<Job> jobs;
  for (std::uint64_t i = 0; i < inputs; ++i) {
    jobs.push_back({Job::same, zones[i].data(), (*arrays)[i].data, zones[i].bytes, 0});
  }
  for (const auto& zone : zones) red_jobs(jobs, Job::red_check, zone);
  for (const auto& [handle, kernel] : kernels_) {
    for (const auto& zone : kernel.scratch) red_jobs(jobs, Job::red_check, zone);
  }
  KERF_TRY_VOID(enqueue_jobs(jobs));
  std::vector<unsigned> blocks;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    KERF_TRY(const unsigned count, enqueue_compare(o, outputs[o], slot, id, inputs, o, nan_is_free));
    blocks.push_back(count);
  }
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);

  CheckAnswer answer;
  const auto* results = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt);
  for (std::uint64_t i = 0; i < inputs; ++i) {
    if (*results++ != 0) answer.changed_inputs.push_back(i);
  }
  const auto zone_broken = [&] {
    const bool broken = results[0] != 0 || results[1] != 0;
    results += 2;
    return broken;
  };
  for (std::uint64_t i = 0; i < zones.size(); ++i) {
    if (zone_broken()) answer.broken_buffers.push_back(i);
  }
  for (const auto& [handle, kernel] : kernels_) {
    for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
      if (zone_broken()) answer.broken_scratch.emplace_back(handle, i);
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto* partials = reinterpret_cast<const ComparePartial*>(pinned_ + kPartialsAt + o * kPartialArea);
    ComparePartial whole;
    for (unsigned b = 0; b < blocks[o]; ++b) merge(whole, partials[b]);
    answer.outputs.push_back(whole);
    auto& octaves = answer.octaves.emplace_back();
    std::memcpy(octaves.data(), pinned_ + kOctavesAt + o * kOctaveArea, kOctaveArea);
  }
  return answer;
}

}  // namespace kerf::cuda
