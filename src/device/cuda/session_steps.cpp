// Lists of steps: staging, running and checking, queued one behind the other.

#include <algorithm>
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

Status Session::make_room(List& list, std::size_t jobs, std::size_t areas) {
  if (jobs > kMostJobs) return fail(Errc::invalid_input, "too many buffers");
  if (areas > kMostOutputs) return fail(Errc::invalid_input, "too many outputs");
  if (next_job_ + jobs <= kMostJobs && next_area_ + areas <= kMostOutputs) return {};
  return finish(list);
}

Status Session::enqueue_stage(List& list, std::size_t step) {
  const StepRequest& request = list.steps[step];
  KERF_TRY(const auto* arrays, resident(request.id));
  if (request.slot >= slots_.size() || request.inputs > slots_[request.slot].size() ||
      request.inputs > arrays->size()) {
    return fail(Errc::invalid_input, "no such slot, or a data set for another problem");
  }
  inputs_ = request.inputs;
  const auto& zones = slots_[request.slot];
  std::vector<Job> jobs;
  for (std::uint64_t i = 0; i < request.inputs; ++i) {  // first, so that results[i] is the sum of array i
    const auto& array = (*arrays)[i];
    if (zones[i].bytes != array.bytes) return fail(Errc::invalid_input, "a data set for another problem");
    jobs.push_back({Job::copy, zones[i].data(), array.data, array.bytes, array.salt});
  }
  // Expected values and bounds too: what is found spoiled at the check was spoiled by the kernels run in between.
  for (std::size_t i = request.inputs; i < arrays->size(); ++i) {
    const auto& array = (*arrays)[i];
    jobs.push_back({Job::sum, array.data, 0, array.bytes, array.salt});
  }
  const auto poison_zone = [&](const Zone& zone) {
    jobs.push_back({Job::fill, zone.data(), 0, zone.bytes, request.poison});
  };
  for (std::uint64_t i = 0; i < zones.size(); ++i) {
    if (i >= request.inputs) poison_zone(zones[i]);
    red_jobs(jobs, Job::red_fill, zones[i]);
  }
  for (const auto& [handle, kernel] : kernels_) {
    for (const auto& zone : kernel.scratch) {
      poison_zone(zone);
      red_jobs(jobs, Job::red_fill, zone);
    }
  }
  KERF_TRY_VOID(make_room(list, jobs.size(), 0));
  KERF_TRY(const std::uint64_t at, enqueue_jobs(jobs));
  list.queued.push_back({step, at, 0, {}, {}});
  return {};
}

Status Session::enqueue_check(List& list, std::size_t step) {
  const StepRequest& request = list.steps[step];
  KERF_TRY(const auto* arrays, resident(request.id));
  if (request.slot >= slots_.size() || request.inputs > arrays->size() ||
      request.inputs > slots_[request.slot].size()) {
    return fail(Errc::invalid_input, "no such slot, or a data set for another problem");
  }
  const auto& zones = slots_[request.slot];
  std::vector<Job> jobs;
  for (std::uint64_t i = 0; i < request.inputs; ++i)
    jobs.push_back({Job::same, zones[i].data(), (*arrays)[i].data, zones[i].bytes, 0});
  for (const auto& zone : zones) red_jobs(jobs, Job::red_check, zone);
  for (const auto& [handle, kernel] : kernels_)
    for (const auto& zone : kernel.scratch) red_jobs(jobs, Job::red_check, zone);
  KERF_TRY_VOID(make_room(list, jobs.size(), request.outputs.size()));
  Queued queued{step, 0, next_area_, {}, {}};
  KERF_TRY(queued.jobs_at, enqueue_jobs(jobs));
  next_area_ += request.outputs.size();
  for (std::size_t o = 0; o < request.outputs.size(); ++o) {
    KERF_TRY(const unsigned count, enqueue_compare(queued.area + o, request.outputs[o], request.slot, request.id,
                                                   request.inputs, o, request.nan_is_free != 0));
    queued.blocks.push_back(count);
  }
  list.queued.push_back(std::move(queued));
  return {};
}

Status Session::enqueue_run(List& list, std::size_t step) {
  const StepRequest& request = list.steps[step];
  const auto it = kernels_.find(list.handle);
  if (it == kernels_.end()) return fail(Errc::invalid_input, "no such kernel");
  std::vector<std::vector<CUdeviceptr>> buffers;  // made before the clock runs
  for (const auto slot : request.slots) {
    if (slot >= slots_.size()) return fail(Errc::invalid_input, "no such slot");
    auto& all = buffers.emplace_back();
    for (const auto& zone : slots_[slot]) all.push_back(zone.data());
  }
  if (!idle_known_) {
    KERF_TRY_VOID(finish(list));
    KERF_TRY_VOID(know_idle());
  }
  if (request.timed != 0) {
    KERF_TRY_VOID(make_room(list, 3, 0));
    KERF_TRY(list.answers[step].times, run_timed(it->second, buffers));
    return {};
  }
  Queued queued{step, 0, 0, {}, {}};
  KERF_TRY(queued.events, run_events(list.runs));
  // The part of the idle memory that no sum watches; once is enough, because no two calls of a list have the same data.
  if (list.runs++ == 0 && idle_ != 0) {
    const auto cache = static_cast<std::uint64_t>(l2_bytes_);
    KERF_CUDA(driver_, cuMemsetD8Async, idle_ + 2 * cache, 0xA5, cache, stream_);
  }
  KERF_TRY_VOID(scrub(it->second));
  KERF_CUDA(driver_, cuMemsetD8Async, work_, 0, kWorkBytes, stream_);
  KERF_CUDA(driver_, cuEventRecord, queued.events.first, stream_);
  for (const auto& all : buffers) KERF_TRY_VOID(enqueue(it->second, all));
  KERF_CUDA(driver_, cuEventRecord, queued.events.second, stream_);
  list.queued.push_back(std::move(queued));
  return {};
}

Result<std::pair<CUevent, CUevent>> Session::run_events(std::size_t number) {
  while (run_events_.size() <= number) {
    std::pair<CUevent, CUevent> events{};
    KERF_CUDA(driver_, cuEventCreate, &events.first, 0);
    KERF_CUDA(driver_, cuEventCreate, &events.second, 0);
    run_events_.push_back(events);
  }
  return run_events_[number];
}

CheckAnswer Session::read_check(const StepRequest& step, const Queued& queued) const {
  CheckAnswer answer;
  const auto* results = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt) + queued.jobs_at;
  for (std::uint64_t i = 0; i < step.inputs; ++i) {
    if (*results++ != 0) answer.changed_inputs.push_back(i);
  }
  const auto zone_broken = [&] {
    const bool broken = results[0] != 0 || results[1] != 0;
    results += 2;
    return broken;
  };
  for (std::uint64_t i = 0; i < slots_[step.slot].size(); ++i) {
    if (zone_broken()) answer.broken_buffers.push_back(i);
  }
  for (const auto& [handle, kernel] : kernels_) {
    for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
      if (zone_broken()) answer.broken_scratch.emplace_back(handle, i);
    }
  }
  for (std::size_t o = 0; o < step.outputs.size(); ++o) {
    const std::size_t area = queued.area + o;
    const auto* partials = reinterpret_cast<const ComparePartial*>(pinned_ + kPartialsAt + area * kPartialArea);
    ComparePartial whole;
    for (unsigned b = 0; b < queued.blocks[o]; ++b) merge(whole, partials[b]);
    answer.outputs.push_back(whole);
    auto& octaves = answer.octaves.emplace_back();
    std::memcpy(octaves.data(), pinned_ + kOctavesAt + area * kOctaveArea, kOctaveArea);
  }
  return answer;
}

Status Session::finish(List& list) {
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  for (const Queued& queued : list.queued) {
    const StepRequest& step = list.steps[queued.step];
    StepAnswer& answer = list.answers[queued.step];
    if (step.kind == StepRequest::stage) {
      const auto* sums = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt) + queued.jobs_at;
      KERF_TRY(const auto* arrays, resident(step.id));
      for (std::size_t i = 0; i < arrays->size(); ++i) answer.intact &= sums[i] == (*arrays)[i].sum;
    } else if (step.kind == StepRequest::check) {
      answer.check = read_check(step, queued);
    } else {
      float milliseconds = 0;
      KERF_CUDA(driver_, cuEventElapsedTime, &milliseconds, queued.events.first, queued.events.second);
      answer.times.device_us = answer.times.host_us = 1000.0 * static_cast<double>(milliseconds);
    }
  }
  list.queued.clear();
  next_job_ = 0;
  next_area_ = 0;
  return {};
}

Result<std::vector<StepAnswer>> Session::follow(std::uint64_t handle, const std::vector<StepRequest>& steps) {
  List list{handle, steps, std::vector<StepAnswer>(steps.size()), {}};
  next_job_ = 0;
  next_area_ = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    switch (steps[i].kind) {
      case StepRequest::stage: KERF_TRY_VOID(enqueue_stage(list, i)); break;
      case StepRequest::run: KERF_TRY_VOID(enqueue_run(list, i)); break;
      case StepRequest::check: KERF_TRY_VOID(enqueue_check(list, i)); break;
      default: return fail(Errc::invalid_input, "an unknown step");
    }
  }
  bool intact = true;
  if (list.runs > 0 && idle_ != 0) {
    KERF_TRY_VOID(make_room(list, 1, 0));
    KERF_TRY(const std::uint64_t job, enqueue_idle_sum());
    KERF_TRY_VOID(finish(list));
    intact = idle_is_intact(job);
  } else {
    KERF_TRY_VOID(finish(list));
  }
  if (const auto it = kernels_.find(handle); it != kernels_.end() && !it->second.probed) {
    KERF_CUDA(driver_, cuCtxSynchronize);
    KERF_TRY_VOID(probe());
    it->second.probed = true;
  }
  if (!intact) return fail(Errc::tool_failed, "the kernel wrote into memory that is not its own");
  return std::move(list.answers);
}

}  // namespace kerf::cuda
