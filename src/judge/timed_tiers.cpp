// The tiers that time a candidate.

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "judge/judge.hpp"

namespace kerf {
namespace {

/// A candidate that takes this many times as long as another one did is timed in two rounds: nobody chooses it.
constexpr double kFarSlower = 10;
constexpr int kBriefRounds = 2;

}  // namespace

Result<Judge::Stop> Judge::measure_shapes(Trial& trial, const Pace& pace) {
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    if (shapes_[s].weight <= 0) continue;
    KERF_TRY(Stop stop, measure_shape(trial, s, pace));
    if (stop) return stop;
  }
  return Stop{};
}

Result<std::variant<TimedKernel, Outcome>> Judge::ready_to_time(Trial& trial, std::size_t shape, Stop& reload_failed) {
  using Ready = std::variant<TimedKernel, Outcome>;
  KERF_TRY(auto loaded, load(trial, shape, Gate::timing));
  if (auto* outcome = std::get_if<Outcome>(&loaded)) return Ready(std::move(*outcome));
  TimedKernel kernel{trial.candidate.name, std::get<KernelHandle>(loaded), trial.estimate_us[shape], {}};
  if (tools_.target.device->facts().runs_on_host)
    kernel.reload = [&trial, &reload_failed, shape, this]() -> Result<KernelHandle> {
      if (trial.handles[shape]) contexts_[shape]->bench().unload(*trial.handles[shape]);
      trial.handles[shape].reset();
      KERF_TRY(auto again, load(trial, shape, Gate::timing));
      if (auto* outcome = std::get_if<Outcome>(&again)) {
        reload_failed = std::move(*outcome);
        return fail(Errc::cancelled, "the kernel could not be loaded again");
      }
      return std::get<KernelHandle>(again);
    };
  return Ready(std::move(kernel));
}

Status Judge::add_baselines(std::vector<TimedKernel>& kernels, std::size_t shape) {
  ShapeContext& context = *contexts_[shape];
  KERF_TRY(const auto baselines, context.baselines());
  for (LoadedBaseline* baseline : baselines) {
    if (reference_for(shape, baseline->name, kernels[0].estimate_us) != nullptr) continue;
    kernels.push_back(
        {baseline->name, *baseline->handle, baseline->estimate_us, {}, known_time(shape, baseline->name)});
    if (kernels[0].reload) kernels.back().reload = [&context, baseline] { return context.reload(*baseline); };
  }
  return {};
}

Result<Judge::Stop> Judge::measure_shape(Trial& trial, std::size_t shape, const Pace& pace) {
  ShapeContext& context = *contexts_[shape];
  Stop reload_failed;
  KERF_TRY(auto ready, ready_to_time(trial, shape, reload_failed));
  if (auto* outcome = std::get_if<Outcome>(&ready)) return Stop(std::move(*outcome));
  std::vector<TimedKernel> kernels{std::get<TimedKernel>(std::move(ready))};
  MeasureOptions options = options_.measure;
  options.call_limit = call_limit(context);
  options.warm_up = pace.warm_up;
  options.flush = context.needs_flush();
  if (const auto best = best_us_.find(shapes_[shape].name);
      best != best_us_.end() && trial.estimate_us[shape] > kFarSlower * best->second) {
    options.max_rounds = std::min(options.max_rounds, kBriefRounds);
    options.min_rounds = std::min(options.min_rounds, options.max_rounds);
    trial.timed_briefly = true;
  }
  if (pace.max_rounds > 0) options.min_rounds = options.max_rounds = pace.max_rounds;
  if (pace.baselines) KERF_TRY_VOID(add_baselines(kernels, shape));

  const std::vector<const oracle::DataSet*> data = context.timed();
  std::optional<Refusal> refusal;
  const CheckSlot check = [&](std::size_t kernel, int slot, const oracle::DataSet& set,
                              const SlotReport& report) -> Result<bool> {
    refusal = judge_slot(report, set, context.outputs());
    if (!refusal) return true;
    if (kernel != 0)
      return fail(Errc::tool_failed, "baseline " + kernels[kernel].name + " gave a wrong result while being timed: " +
                                         outcome_message(to_outcome(*refusal)));
    add_wrong_box(*refusal, context.bench(), slot, set, context.outputs());
    return false;
  };
  Rng rng = Rng(options_.seed).fork(trial.candidate.id + shapes_[shape].name + pace.label);
  std::unique_lock quiet(quiet_);
  auto measured_or = time_kernels(context.bench(), context.slots(), kernels, data, options, rng, tools_.clock, check);
  quiet.unlock();
  if (reload_failed) return reload_failed;
  KERF_TRY(const TimingResult timing, std::move(measured_or));
  if (timing.fault && timing.faulty != 0)
    return fail(Errc::tool_failed,
                "baseline " + kernels[timing.faulty].name + " failed while being timed: " + timing.fault->message);
  if (timing.fault) {
    KERF_TRY(Outcome outcome, after_fault(trial, shape, refusal_from(*timing.fault, Gate::timing)));
    return Stop(std::move(outcome));
  }
  if (refusal) return Stop(to_outcome(*std::move(refusal)));
  KERF_TRY(Stop afterwards, check_after_timing(trial, shape, !pace.baselines));
  if (afterwards) return afterwards;

  KERF_TRY(ShapeMeasurement measured, summarise(timing, shape, rng.fork("bootstrap")));
  trial.estimate_us[shape] = measured.time.median;
  for (const auto& [name, time] : measured.baselines) {
    if (time.samples > 0 && time.median > kHopelesslySlower * measured.time.median)
      timed_once_[measured.shape].emplace(name, time);
    if (time.samples >= options.min_baseline_rounds) baseline_times_[measured.shape][name] = time;
  }
  if (Stop stop = judge_measured(measured, timing, shapes_[shape])) return stop;
  trial.detail += fmt::format("{}{}: {}", trial.detail.empty() ? "" : ", ", measured.shape,
                              counted(measured.time.samples, "sample"));
  if (pace.baselines) {
    const auto [best, first] = best_us_.emplace(measured.shape, measured.time.median);
    if (!first) best->second = std::min(best->second, measured.time.median);
    trial.measurement.shapes.push_back(std::move(measured));
  } else {
    trial.samples.push_back({measured.shape, measured.weight, timing.kernels[0].us});
  }
  return Stop{};
}

/// Finalists are paired with their baselines, and so is everybody on cores that others use too.
std::optional<TimeEstimate> Judge::known_time(std::size_t shape, const std::string& baseline) const {
  if (options_.certify || tools_.target.device->facts().runs_on_host) return std::nullopt;
  const auto times = baseline_times_.find(shapes_[shape].name);
  if (times == baseline_times_.end()) return std::nullopt;
  const auto time = times->second.find(baseline);
  return time == times->second.end() ? std::nullopt : std::optional(time->second);
}

const TimeEstimate* Judge::reference_for(std::size_t shape, const std::string& baseline, double candidate_us) const {
  if (const auto once = timed_once_.find(shapes_[shape].name); once != timed_once_.end())
    if (const auto time = once->second.find(baseline);
        time != once->second.end() && candidate_us > 0 && time->second.median > kHopelesslySlower * candidate_us)
      return &time->second;
  const auto known = references_.find(shapes_[shape].name);
  if (known == references_.end()) return nullptr;
  const auto time = known->second.find(baseline);
  if (time == known->second.end() ||
      time->second.median * 10 < 1000.0 * static_cast<double>(options_.measure.time_limit.count()))
    return nullptr;
  return &time->second;
}

Result<ShapeMeasurement> Judge::summarise(const TimingResult& timing, std::size_t shape, Rng rng) const {
  ShapeMeasurement measured;
  measured.shape = shapes_[shape].name;
  measured.weight = shapes_[shape].weight;
  measured.time = estimate(timing.kernels[0].us);
  if (TimeEstimate other = estimate(timing.kernels[0].unusual_us); other.samples > 0) measured.unusual = other;
  // With one sample, or times from before, a ratio carries the noise of the candidate only.
  const auto refer = [&](const std::string& name, const TimeEstimate& time) {
    measured.baselines[name] = time;
    if (measured.time.low > 0)
      measured.speedups[name] = {name, time.median / measured.time.median, time.median / measured.time.high,
                                 time.median / measured.time.low};
  };
  // Of times that were not taken in the same rounds both intervals count.
  const auto refer_to_interval = [&](const std::string& name, const TimeEstimate& time) {
    measured.baselines[name] = time;
    if (measured.time.low > 0)
      measured.speedups[name] = {name, time.median / measured.time.median, time.low / measured.time.high,
                                 time.high / measured.time.low};
  };
  for (std::size_t k = 1; k < timing.kernels.size(); ++k) {
    const TimeEstimate time = estimate(timing.kernels[k].us);
    measured.baselines[timing.kernels[k].name] = time;
    const auto known = known_time(shape, timing.kernels[k].name);
    if (time.samples == 1 && known && agrees(*known, time.median))
      refer_to_interval(timing.kernels[k].name, *known);
    else if (time.samples == 1)
      refer(timing.kernels[k].name, time);
    else
      measured.speedups[timing.kernels[k].name] = speedup_of(timing.kernels[0], timing.kernels[k], rng);
  }
  for (const References* known : {&references_, &timed_once_}) {
    const auto found = known->find(measured.shape);
    if (found == known->end()) continue;
    // Whoever was not timed has a time from before. Not asked again whether that is enough: the candidate's own time is
    // no longer the estimate that it was left out by.
    for (const auto& [name, time] : found->second)
      if (!measured.baselines.contains(name)) refer(name, time);
  }
  if (peaks_ && task_.graph) {
    KERF_TRY(const ir::Cost cost, ir::cost(*task_.graph, shapes_[shape].symbols));
    measured.speed_of_light = floor_of(cost, *peaks_, task_.precision);
    if (measured.speed_of_light)
      measured.speed_of_light->fraction = measured.speed_of_light->floor_us / measured.time.median;
  }
  return measured;
}

Judge::Stop Judge::judge_measured(const ShapeMeasurement& measured, const TimingResult& timing,
                                  const ShapeSet& shape) const {
  if (peaks_ && task_.graph)
    if (const auto cost = ir::cost(*task_.graph, shape.symbols))
      if (const auto floor = physical_floor_us(*cost, *peaks_, tools_.target.device->facts()))
        if (auto refusal = judge_floor(measured.time.median, *floor, shape.name))
          return to_outcome(*std::move(refusal));
  if (auto refusal = judge_clock(timing.clock_disagreement)) return to_outcome(*std::move(refusal));
  return {};
}

}  // namespace kerf
