// Lists of steps, as one request each.

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "device/cuda/bench.hpp"
#include "device/cuda/concrete_plan.hpp"
#include "device/cuda/session.hpp"

namespace kerf::cuda {
namespace {

using worker::Reader;
using worker::Writer;

/// What staging or checking may take besides the runs of a list: a part for each, and one for their bytes.
constexpr std::chrono::milliseconds kPerStep{20};
constexpr std::uint64_t kBytesPerMillisecond = 100 << 20;
/// A data set that is found spoiled is brought again; one that does not stay as it is after so many is a fault.
constexpr int kAttempts = 3;

const oracle::DataSet* data_of(const BenchStep& step) {
  if (const auto* stage = std::get_if<StageStep>(&step)) return stage->data;
  const auto* check = std::get_if<CheckStep>(&step);
  return check != nullptr ? check->data : nullptr;
}

bool has_run(std::span<const BenchStep> steps) {
  return std::ranges::any_of(steps, [](const BenchStep& step) { return std::holds_alternative<RunStep>(step); });
}

std::chrono::milliseconds run_limit(std::span<const BenchStep> steps) {
  std::chrono::milliseconds limit{0};
  for (const BenchStep& step : steps)
    if (const auto* run = std::get_if<RunStep>(&step)) limit += run->limit;
  return limit;
}

}  // namespace

Status CudaBench::stage(int slot, const oracle::DataSet& data, Poison poison) {
  const std::array<BenchStep, 1> steps{StageStep{slot, &data, poison}};
  return follow(0, steps).map([](const auto&) {});
}

Result<RunOutcome> CudaBench::run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds limit) {
  const std::array<BenchStep, 1> steps{RunStep{{slots.begin(), slots.end()}, limit}};
  KERF_TRY(auto outcome, follow(kernel, steps));
  if (auto* fault = std::get_if<Fault>(&outcome)) return RunOutcome(std::move(*fault));
  return RunOutcome(std::get<StepResults>(outcome).runs.front());
}

Result<SlotReport> CudaBench::check(int slot, const oracle::DataSet& data) {
  const std::array<BenchStep, 1> steps{CheckStep{slot, &data}};
  KERF_TRY(auto outcome, follow(0, steps));
  return std::move(std::get<StepResults>(outcome).checks.front());
}

Result<bool> CudaBench::ensure_all_resident(std::span<const BenchStep> steps) {
  std::set<std::uint64_t> ids;
  for (const BenchStep& step : steps)
    if (const auto* data = data_of(step); data != nullptr && ids.insert(data->id).second)
      KERF_TRY_VOID(ensure_resident(*data));
  return std::ranges::all_of(ids, [&](std::uint64_t id) { return std::ranges::count(resident_, id, &Resident::id); });
}

Status CudaBench::write_check(Writer& request, const CheckStep& step) const {
  const auto held = std::ranges::find(resident_, step.data->id, &Resident::id);
  if (held->arrays.size() == static_cast<std::size_t>(inputs()) && outputs() > 0)
    return fail(Errc::invalid_input, "the data set has no expected values to check against");
  request.put<std::uint64_t>(StepRequest::check).put(number(step.slot)).put(step.data->id).put(number(inputs()));
  request.put<std::uint64_t>(step.data->nan_is_free).put(number(outputs()));
  for (int o = 0; o < outputs(); ++o) {
    const auto& expected = held->arrays[expected_array(number(inputs()), number(o))];
    const auto& bound = held->arrays[bound_array(number(inputs()), number(o))];
    const auto& buffer = layout_.buffers[static_cast<std::size_t>(inputs() + o)];
    request.put(number(inputs() + o)).put(static_cast<std::uint64_t>(buffer.dtype)).put(expected.bytes / 8);
    request.put<std::uint64_t>(bound.role == Array::Role::wide_bound);
    request.put(expected.key).put(bound_mask_key_).put(mask_key_);
    const oracle::Allowance allowance = step.data->allowance(static_cast<std::size_t>(o));
    const oracle::Negligible floor = oracle::negligible(buffer.dtype, allowance);
    request.put(allowance.most).put(allowance.unit).put(floor.relative).put(floor.absolute);
  }
  return {};
}

Result<std::string> CudaBench::request_for(KernelHandle kernel, std::span<const BenchStep> steps) const {
  Writer request;
  request.put(Command::follow).put(number(kernel)).put<std::uint64_t>(steps.size());
  for (const BenchStep& step : steps) {
    if (const auto* stage = std::get_if<StageStep>(&step)) {
      request.put<std::uint64_t>(StepRequest::stage).put(number(stage->slot)).put(stage->data->id);
      request.put(number(inputs())).put(static_cast<std::uint64_t>(stage->poison));
    } else if (const auto* run = std::get_if<RunStep>(&step)) {
      request.put<std::uint64_t>(StepRequest::run).put<std::uint64_t>(run->timed);
      request.put<std::uint64_t>(run->slots.size());
      for (const int slot : run->slots) request.put(number(slot));
    } else {
      KERF_TRY_VOID(write_check(request, std::get<CheckStep>(step)));
    }
  }
  return request.bytes();
}

Result<std::variant<Reply, Fault>> CudaBench::exchange(const std::string& request, std::span<const BenchStep> steps) {
  using Exchanged = std::variant<Reply, Fault>;
  if (!has_run(steps)) {
    KERF_TRY(Reply reply, call(request, kCommandLimit));
    KERF_TRY_VOID(expect_ok(reply, "staging or checking"));
    return Exchanged(std::move(reply));
  }
  std::chrono::milliseconds limit = run_limit(steps);
  for (const BenchStep& step : steps)
    if (const auto* data = data_of(step)) {
      const auto held = std::ranges::find(resident_, data->id, &Resident::id);
      limit += kPerStep + std::chrono::milliseconds(held->bytes / kBytesPerMillisecond);
    }
  if (auto sent = send(request); !sent) return Exchanged(Fault{Fault::Kind::crashed, sent.error().message});
  auto reply = receive(limit);
  if (!reply && reply.error().code == Errc::timeout) {
    return Exchanged(Fault{Fault::Kind::timed_out, fmt::format("still running after {} ms", run_limit(steps).count())});
  }
  if (!reply) return Exchanged(Fault{Fault::Kind::crashed, reply.error().message});
  if (reply->answer == Answer::refused) return fail(Errc::invalid_input, reply->text());
  if (reply->answer != Answer::ok) {
    lose_worker();
    return Exchanged(Fault{Fault::Kind::crashed, reply->text()});
  }
  return Exchanged(*std::move(reply));
}

Result<std::variant<CudaBench::Followed, Fault>> CudaBench::try_follow(KernelHandle kernel,
                                                                       std::span<const BenchStep> steps) {
  using Tried = std::variant<Followed, Fault>;
  if (has_run(steps) && !kernels_.contains(kernel))
    return fail(Errc::invalid_input, "the kernel is not loaded (its worker was replaced)");
  KERF_TRY(const std::string request, request_for(kernel, steps));
  KERF_TRY(const auto exchanged, exchange(request, steps));
  if (const auto* fault = std::get_if<Fault>(&exchanged)) return Tried(*fault);
  Reader body = std::get<Reply>(exchanged).body();
  Followed followed;
  for (const BenchStep& step : steps) {
    if (const auto* stage = std::get_if<StageStep>(&step)) {
      if (body.get<std::uint64_t>() == 0) followed.spoiled.insert(stage->data->id);
    } else if (std::holds_alternative<RunStep>(step)) {
      Timing timing;
      timing.device_us = body.get<double>();
      timing.host_us = body.get<double>();
      timing.host_us -= body.get<double>();  // the judge's own delay is no work of the candidate
      followed.results.runs.push_back(timing);
    } else {
      const auto& check = std::get<CheckStep>(step);
      bool spoiled = false;
      KERF_TRY(SlotReport report, read_report(body, *check.data, spoiled));
      if (spoiled) followed.spoiled_checks.emplace_back(followed.results.checks.size(), check);
      followed.results.checks.push_back(std::move(report));
    }
  }
  if (!body.ok()) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  return Tried(std::move(followed));
}

/// Sound when it was staged and spoiled now: a kernel that ran in between wrote there.
Result<SlotReport> CudaBench::check_again(const CheckStep& step) {
  const std::array<BenchStep, 1> steps{step};
  for (int attempt = 1; attempt < kAttempts; ++attempt) {
    KERF_TRY_VOID(drop_data(step.data->id));
    KERF_TRY_VOID(ensure_resident(*step.data));
    KERF_TRY(auto tried, try_follow(0, steps));
    auto& followed = std::get<Followed>(tried);  // nothing ran
    if (!followed.spoiled_checks.empty()) continue;
    followed.results.checks.front().broken_red_zones.push_back("memory of the judge");
    return std::move(followed.results.checks.front());
  }
  return fail(Errc::unavailable,
              fmt::format("checking on {}: the data set does not stay as it was uploaded", facts_.id));
}

Result<std::variant<StepResults, Fault>> CudaBench::follow(KernelHandle kernel, std::span<const BenchStep> steps) {
  using Outcome = std::variant<StepResults, Fault>;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    KERF_TRY(const bool all, ensure_all_resident(steps));
    if (!all) return Bench::follow(kernel, steps);  // one after the other: they do not fit beside each other
    KERF_TRY(auto tried, try_follow(kernel, steps));
    if (auto* fault = std::get_if<Fault>(&tried)) return Outcome(std::move(*fault));
    auto& followed = std::get<Followed>(tried);
    for (const auto id : followed.spoiled) KERF_TRY_VOID(drop_data(id));  // an earlier kernel wrote there
    if (!followed.spoiled.empty()) continue;
    for (const auto& [at, check] : followed.spoiled_checks) {
      KERF_TRY(followed.results.checks[at], check_again(check));
    }
    for (const SlotReport& report : followed.results.checks) suspect_ |= !report.broken_red_zones.empty();
    return Outcome(std::move(followed.results));
  }
  return fail(Errc::unavailable,
              fmt::format("staging on {}: the data set does not stay as it was uploaded", facts_.id));
}

Result<SlotReport> CudaBench::read_report(Reader& body, const oracle::DataSet& data, bool& spoiled) const {
  SlotReport report;
  if (body.count() != number(outputs())) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  const auto held = std::ranges::find(resident_, data.id, &Resident::id);
  if (held == resident_.end()) return fail(Errc::unavailable, "a data set that was checked is not on the device");
  for (int o = 0; o < outputs(); ++o) {
    oracle::CompareStats stats;
    const auto at = static_cast<std::size_t>(o);
    const auto& buffer = layout_.buffers[static_cast<std::size_t>(inputs() + o)];
    stats.total = static_cast<std::int64_t>(bytes_of(buffer) / dtype_size(buffer.dtype));
    stats.compared = static_cast<std::int64_t>(body.get<std::uint64_t>());
    stats.wrong = static_cast<std::int64_t>(body.get<std::uint64_t>());
    stats.squares_count = static_cast<std::int64_t>(body.get<std::uint64_t>());
    stats.sum_squares = body.get<double>();
    const double ratio = body.get<double>();
    const auto worst = body.get<std::uint64_t>();
    const double actual = body.get<double>(), expected = body.get<double>(), bound = body.get<double>();
    stats.largest = body.get<double>();
    stats.worst_run = body.get<double>();
    spoiled |= body.get<std::uint64_t>() != held->arrays[expected_array(number(inputs()), number(o))].sum;
    spoiled |= body.get<std::uint64_t>() != held->arrays[bound_array(number(inputs()), number(o))].sum;
    for (auto& count : stats.octaves) count = static_cast<std::int64_t>(body.get<std::uint64_t>());
    if (worst < static_cast<std::uint64_t>(stats.total)) {
      stats.worst = static_cast<std::int64_t>(worst);
      stats.worst_ratio = ratio;
      stats.worst_actual = actual;
      stats.worst_expected = expected;
      // Device copies of bounds are rounded up to floats.
      stats.worst_bound = at < data.bound.size() ? data.bound[at].as<double>()[worst] : bound;
    }
    report.outputs.push_back(stats);
  }
  const auto name = [&](std::uint64_t index) {
    return index < layout_.buffers.size() ? layout_.buffers[index].name : std::string("?");
  };
  for (auto left = body.count(); left > 0; --left) report.changed_inputs.push_back(name(body.get<std::uint64_t>()));
  for (auto left = body.count(); left > 0; --left) report.broken_red_zones.push_back(name(body.get<std::uint64_t>()));
  for (auto left = body.count(); left > 0; --left) {
    const auto it = kernels_.find(static_cast<KernelHandle>(body.get<std::uint64_t>()));
    const auto index = body.get<std::uint64_t>();
    const bool known = it != kernels_.end() && index < it->second.scratch.size();
    report.broken_red_zones.push_back(known ? it->second.scratch[index] : "scratch");
  }
  if (!body.ok()) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  return report;
}

}  // namespace kerf::cuda
