#include "judge/judge.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "judge/evaluation_cache.hpp"
#include "judge/judge_sources.hpp"
#include "task/task.hpp"
#include "verify/cpp_reference.hpp"

namespace kerf {
namespace {

double milliseconds(Nanoseconds span) { return static_cast<double>(span.count()) / 1e6; }

/// Elements of all inputs and outputs; the order in which shapes are tried.
double volume(const Task& task, const ShapeSet& shape) {
  double total = 0;
  for (const auto* list : {&task.inputs, &task.outputs})
    for (const auto& tensor : *list)
      if (const auto count = element_count(tensor.shape).evaluate(shape.symbols)) total += static_cast<double>(*count);
  return total;
}

Bindings merged(const Bindings& shape, const Bindings& tunables) {
  Bindings all = shape;
  all.insert(tunables.begin(), tunables.end());
  return all;
}

/// Faster than the floor by more than this is not measurement noise.
constexpr double kFloorMargin = 0.8;

}  // namespace

Judge::Judge(const Task& task, const JudgeTools& tools, const JudgeOptions& options)
    : task_(task), tools_(tools), options_(options) {}

Result<std::unique_ptr<Judge>> Judge::open(const Task& task, const JudgeTools& tools, const JudgeOptions& options,
                                           Observer& observer) {
  auto judge = std::unique_ptr<Judge>(new Judge(task, tools, options));
  std::vector<std::string> names;
  const std::vector<ShapeSet> all = shapes_for(task, tools.target.name);
  for (const ShapeSet& shape : all) {
    names.push_back(shape.name);
    if (options.only_shape.empty() || options.only_shape == shape.name) judge->shapes_.push_back(shape);
  }
  if (!options.only_shape.empty() && !judge->shapes_.empty() && judge->shapes_[0].weight <= 0)
    judge->shapes_[0].weight = 1;  // asked for by name: it is timed
  if (judge->shapes_.empty()) {
    if (options.only_shape.empty())
      return fail(Errc::invalid_input, "task " + task.name + " has no shape for target " + tools.target.name);
    return fail(Errc::invalid_input,
                fmt::format("task {} has no shape '{}' for target {}{}; it has: {}", task.name, options.only_shape,
                            tools.target.name, did_you_mean(options.only_shape, names), join(names, ", ")));
  }
  const auto smaller = [&](const ShapeSet& a, const ShapeSet& b) { return volume(task, a) < volume(task, b); };
  std::stable_sort(judge->shapes_.begin(), judge->shapes_.end(), smaller);
  judge->contexts_.resize(judge->shapes_.size());
  if (task.graph) {
    KERF_TRY(judge->reference_, oracle::make_graph_reference(task));
  } else {
    if (tools.cpp == nullptr) return fail(Errc::unavailable, "a C++ reference needs a C++ compiler: install g++");
    KERF_TRY(judge->reference_, make_cpp_reference(task, *tools.cpp->language, *tools.cpp->device));
  }
  // Admission is about the task, whatever shape is asked for; its reference is computed on the host, which may not hold
  // a large one.
  const ShapeSet& smallest = *std::min_element(all.begin(), all.end(), smaller);
  KERF_TRY(judge->admission_, admit(task, *judge->reference_, smallest, options.seed));
  if (!judge->admission_.admitted)
    return fail(Errc::invalid_input, "task " + task.name + " is refused: " + judge->admission_.reason);
  if (!options.cache.empty()) judge->peaks_ = load_peaks(options.cache, tools.target.device->facts());
  (void)observer;
  return judge;
}

Result<ShapeContext*> Judge::context(std::size_t shape, Observer& observer) {
  if (!contexts_[shape]) {
    if (shape > 0) observer.on_note("preparing data and baselines for shape '" + shapes_[shape].name + "'");
    const ShapeContext::Inputs inputs{task_,         shapes_[shape], tools_.target,           *reference_,
                                      tools_.builds, options_.seed,  options_.timed_data_sets};
    Families found;
    const std::unique_lock quiet(quiet_);  // the naive kernel is timed here
    KERF_TRY(contexts_[shape], ShapeContext::prepare(inputs, shape == 0 ? nullptr : &families_, found));
    if (shape == 0) {
      families_ = found;
      notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
    }
  }
  return contexts_[shape].get();
}

Result<CompileOutcome> Judge::build(const Candidate& candidate, const Bindings& tunables, std::size_t shape) {
  const CompileRequest request =
      make_request(candidate, merged(shapes_[shape].symbols, tunables), tools_.target.device->facts().arch);
  return tools_.builds.compile(*tools_.target.language, request);
}

void Judge::prefetch(const Candidate& candidate, const Bindings& tunables) {
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    std::shared_lock quiet(quiet_, std::defer_lock);
    if (tools_.target.device->facts().runs_on_host) quiet.lock();
    const auto outcome = build(candidate, tunables, shape);
    if (!outcome || std::holds_alternative<CompileFailed>(*outcome)) return;  // evaluate() will report it
  }
}

Result<std::optional<Judge::Compiled>> Judge::compile(const Candidate& candidate, const Bindings& tunables) {
  NullObserver silent;
  KERF_TRY(const Stop refused, check_parse(Trial{candidate, tunables, silent, {}, {}, {}, {}}));
  if (refused) return std::optional<Compiled>{};
  std::vector<Result<CompileOutcome>> outcomes(shapes_.size(), fail(Errc::cancelled, "not compiled"));
  parallel_for(static_cast<std::int64_t>(shapes_.size()), 1, 0, [&](std::int64_t begin, std::int64_t end) {
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s)
      outcomes[s] = build(candidate, tunables, s);
  });
  Compiled compiled;
  double weight = 0;
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    KERF_TRY(CompileOutcome outcome, std::move(outcomes[s]));
    if (std::holds_alternative<CompileFailed>(outcome)) return std::optional<Compiled>{};
    if (shapes_[s].weight <= 0) continue;
    if (shapes_[s].weight > weight) {
      weight = shapes_[s].weight;
      compiled.main = compiled.artifacts.size();
    }
    compiled.artifacts.push_back(std::get<Artifact>(std::move(outcome)));
    compiled.constants.push_back(merged(shapes_[s].symbols, tunables));
  }
  if (compiled.artifacts.empty()) return std::optional<Compiled>{};
  return std::optional<Compiled>(std::move(compiled));
}

Result<Evaluation> Judge::evaluate(const Candidate& candidate, const Bindings& tunables, Observer& observer) {
  Evaluation evaluation;
  evaluation.task = task_.name;
  evaluation.task_id = task_.id;
  evaluation.target = tools_.target.name;
  evaluation.device = tools_.target.device->facts().name;
  evaluation.candidate = candidate.name;
  evaluation.candidate_id = candidate.id;
  evaluation.toolchain = toolchain();
  evaluation.tunables = tunables;
  evaluation.seed = options_.seed;

  const std::string key = evaluation_key(candidate, tunables);
  if (options_.use_evaluation_cache && !options_.cache.empty()) {
    if (auto known = load_evaluation(options_.cache, key)) {
      known->from_cache = true;
      known->candidate = candidate.name;
      return *std::move(known);
    }
  }

  Trial trial{candidate, tunables, observer, {}, {}, {}, {}, {}};
  trial.handles.resize(shapes_.size());
  trial.coarse_us.resize(shapes_.size());
  Stop end;
  const Tier tier = [&](const std::string& name, const std::function<Result<Stop>()>& work) -> Result<bool> {
    const Nanoseconds start = tools_.clock.now();
    trial.detail.clear();
    KERF_TRY(end, work());
    const double ms = milliseconds(tools_.clock.now() - start);
    evaluation.tiers.push_back({name, ms});
    observer.on_tier({candidate.name, name, !end.has_value(), ms, end ? outcome_name(*end) : trial.detail});
    return !end.has_value();
  };
  const Status ran = run_tiers(trial, tier);
  unload(trial);
  KERF_TRY_VOID(ran);
  if (!end) combine_speedups(trial.measurement);
  evaluation.outcome = end ? *std::move(end) : Outcome(std::move(trial.measurement));
  evaluation.notes = notes_;
  if (options_.use_evaluation_cache && !options_.cache.empty()) (void)save_evaluation(options_.cache, key, evaluation);
  return evaluation;
}

void Judge::unload(Trial& trial) {
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    if (trial.handles[s]) contexts_[s]->bench().unload(*trial.handles[s]);
}

/// The pipeline. `tier` runs one step, reports it, and says whether the candidate is still in the race.
Status Judge::run_tiers(Trial& trial, const Tier& tier) {
  const std::size_t shapes = shapes_.size();
  KERF_TRY(bool alive, tier("parse", [&] { return check_parse(trial); }));
  if (!alive) return {};
  KERF_TRY(alive, tier("compile", [&] { return check_build(trial, 0, 1); }));
  if (!alive) return {};
  KERF_TRY(alive, tier("static", [&] { return check_static(trial); }));
  if (!alive) return {};
  KERF_TRY(alive, tier("small shape", [&] { return check_shape(trial, 0, "small shape"); }));
  if (!alive) return {};
  if (shapes > 1) {
    KERF_TRY(alive, tier("compile rest", [&] { return check_build(trial, 1, shapes); }));
    if (!alive) return {};
    KERF_TRY(alive, tier("all shapes", [&]() -> Result<Stop> {
               for (std::size_t s = 1; s < shapes; ++s) {
                 KERF_TRY(Stop stop, check_shape(trial, s, "all shapes"));
                 if (stop) return stop;
               }
               return Stop{};
             }));
    if (!alive) return {};
  }
  if (options_.skip_timing) return {};
  const Pace coarse{"coarse", std::min(2, options_.measure.max_rounds), false, false};  // verification was the warm-up
  const Pace fine{"fine", 0, true, false};                                              // coarse timing was
  for (const Pace* pace : {&coarse, &fine}) {
    KERF_TRY(alive, tier(pace->label + " timing", [&]() -> Result<Stop> {
               for (std::size_t s = 0; s < shapes; ++s) {
                 if (shapes_[s].weight <= 0) continue;
                 KERF_TRY(Stop stop, measure_shape(trial, s, *pace));
                 if (stop) return stop;
               }
               return Stop{};
             }));
    if (!alive) return {};
  }
  return {};
}

Result<Judge::Stop> Judge::check_parse(const Trial& trial) const {
  const Candidate& candidate = trial.candidate;
  if (candidate.target != tools_.target.name)
    return Stop(Rejected{
        "parse", fmt::format("the kernel is written for target '{}', not '{}'", candidate.target, tools_.target.name)});
  if (const auto status = check_against(task_, candidate); !status)
    return Stop(Rejected{"parse", status.error().message});
  if (candidate.plan.launches.empty() && !tools_.target.language->dialect().host_entry)
    return Stop(Rejected{"parse",
                         "the header has no `launch:` line, so there is nothing to run; add e.g. launch: "
                         "my_kernel<<<ceil_div(n, 256), 256>>>(x, y)"});
  for (const ShapeSet& shape : shapes_) {
    const Bindings constants = merged(shape.symbols, trial.tunables);
    for (std::size_t i = 0; i < candidate.requirements.size(); ++i) {
      const auto value = candidate.requirements[i].evaluate(constants);
      if (!value)
        return Stop(Rejected{"parse", "require: " + candidate.requirement_texts[i] + ": " + value.error().message});
      if (*value == 0)
        return Stop(Rejected{
            "parse",
            fmt::format("require: {} does not hold for shape '{}'; a kernel must handle every shape of the task",
                        candidate.requirement_texts[i], shape.name)});
    }
  }
  return Stop{};
}

Result<Judge::Stop> Judge::check_build(const Trial& trial, std::size_t first, std::size_t last) {
  for (std::size_t s = first; s < last; ++s) {
    KERF_TRY(const CompileOutcome outcome, build(trial.candidate, trial.tunables, s));
    if (const auto* failed = std::get_if<CompileFailed>(&outcome))
      return Stop(BuildFailed{shapes_[s].name, failed->log});
    // Constants may change what is compiled, so the static budget holds for every shape.
    if (first > 0)
      if (auto refusal = judge_static(std::get<Artifact>(outcome).facts)) return Stop(to_outcome(*std::move(refusal)));
  }
  return Stop{};
}

Result<Judge::Stop> Judge::check_static(const Trial& trial) {
  KERF_TRY(const CompileOutcome outcome, build(trial.candidate, trial.tunables, 0));
  auto refusal = judge_static(std::get<Artifact>(outcome).facts);
  return refusal ? Stop(to_outcome(*std::move(refusal))) : Stop{};
}

Result<std::variant<KernelHandle, Outcome>> Judge::load(Trial& trial, std::size_t shape, const std::string& gate) {
  using Loaded = std::variant<KernelHandle, Outcome>;
  if (trial.handles[shape]) return Loaded(*trial.handles[shape]);
  KERF_TRY(const CompileOutcome built, build(trial.candidate, trial.tunables, shape));
  const Bindings constants = merged(shapes_[shape].symbols, trial.tunables);
  KERF_TRY(const auto loaded,
           contexts_[shape]->bench().load(std::get<Artifact>(built), trial.candidate.plan, constants));
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    KERF_TRY(Outcome outcome, after_fault(trial, shape, refusal_from(*fault, gate)));
    return Loaded(std::move(outcome));
  }
  trial.handles[shape] = std::get<KernelHandle>(loaded);
  return Loaded(*trial.handles[shape]);
}

/// The worker was replaced: nothing is loaded any more. The naive kernel is replayed as a canary before anyone else is
/// judged.
Result<Outcome> Judge::after_fault(Trial& trial, std::size_t shape, Refusal refusal) {
  trial.handles[shape].reset();
  contexts_[shape]->forget_handles();
  KERF_TRY(const auto canary, run_canary(*contexts_[shape]));
  if (canary)
    return fail(Errc::unavailable,
                "the device no longer computes correctly after this kernel: " + outcome_message(to_outcome(*canary)));
  return to_outcome(std::move(refusal));
}

std::chrono::milliseconds Judge::call_limit(const ShapeContext& shape) const {
  return options_.call_limit + std::chrono::milliseconds(static_cast<std::int64_t>(shape.naive_us() * 20 / 1000));
}

Result<Judge::Stop> Judge::check_shape(Trial& trial, std::size_t shape, const std::string& gate) {
  KERF_TRY(ShapeContext* const context, this->context(shape, trial.observer));
  KERF_TRY(auto loaded, load(trial, shape, gate));
  if (auto* outcome = std::get_if<Outcome>(&loaded)) return Stop(std::move(*outcome));
  VerifyOptions options;
  options.gate = gate;
  options.call_limit = call_limit(*context);
  const auto data = context->checked();
  KERF_TRY(auto refusal, verify(context->bench(), std::get<KernelHandle>(loaded), data, context->slots(),
                                context->outputs(), options));
  if (!refusal) {
    trial.detail +=
        fmt::format("{}{}: {} data sets", trial.detail.empty() ? "" : ", ", shapes_[shape].name, data.size());
    return Stop{};
  }
  const bool worker_lives =
      std::holds_alternative<WrongResult>(*refusal) ||
      (std::holds_alternative<Rejected>(*refusal) && std::get<Rejected>(*refusal).gate != "sandbox");
  if (worker_lives) return Stop(to_outcome(*std::move(refusal)));
  KERF_TRY(Outcome outcome, after_fault(trial, shape, *std::move(refusal)));
  return Stop(std::move(outcome));
}

Result<std::optional<Refusal>> Judge::run_canary(ShapeContext& shape) {
  KERF_TRY(const auto baselines, shape.baselines());
  if (baselines.empty()) return std::optional<Refusal>{};
  VerifyOptions options;
  options.gate = "canary";
  options.call_limit = std::chrono::minutes(2);
  return verify_call(shape.bench(), *baselines.front()->handle, 0, *shape.checked().front(), Poison::a, shape.outputs(),
                     options);
}

Result<std::variant<TimedKernel, Outcome>> Judge::ready_to_time(Trial& trial, std::size_t shape, Stop& reload_failed) {
  using Ready = std::variant<TimedKernel, Outcome>;
  KERF_TRY(auto loaded, load(trial, shape, "timing"));
  if (auto* outcome = std::get_if<Outcome>(&loaded)) return Ready(std::move(*outcome));
  TimedKernel kernel{trial.candidate.name, std::get<KernelHandle>(loaded), trial.coarse_us[shape], {}};
  if (tools_.target.device->facts().runs_on_host)
    kernel.reload = [&trial, &reload_failed, shape, this]() -> Result<KernelHandle> {
      if (trial.handles[shape]) contexts_[shape]->bench().unload(*trial.handles[shape]);
      trial.handles[shape].reset();
      KERF_TRY(auto again, load(trial, shape, "timing"));
      if (auto* outcome = std::get_if<Outcome>(&again)) {
        reload_failed = std::move(*outcome);
        return fail(Errc::cancelled, "the kernel could not be loaded again");
      }
      return std::get<KernelHandle>(again);
    };
  return Ready(std::move(kernel));
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
  if (pace.max_rounds > 0) options.min_rounds = options.max_rounds = pace.max_rounds;
  if (pace.baselines) {
    KERF_TRY(const auto baselines, context.baselines());
    for (LoadedBaseline* baseline : baselines) {
      if (reference_for(shape, baseline->name) != nullptr) continue;
      kernels.push_back({baseline->name, *baseline->handle, baseline->estimate_us, {}});
      if (kernels[0].reload) kernels.back().reload = [&context, baseline] { return context.reload(*baseline); };
    }
  }

  std::vector<const oracle::DataSet*> data;
  for (const CheckedData* checked : context.timed()) data.push_back(&checked->data);
  std::optional<Refusal> refusal;
  const CheckSlot check = [&](std::size_t kernel, int slot, const oracle::DataSet& set) -> Result<bool> {
    KERF_TRY(const SlotReport report, context.bench().check(slot, set));
    refusal = judge_slot(report, set, {}, context.outputs());
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
    KERF_TRY(Outcome outcome, after_fault(trial, shape, refusal_from(*timing.fault, "timing")));
    return Stop(std::move(outcome));
  }
  if (refusal) return Stop(to_outcome(*std::move(refusal)));

  KERF_TRY(ShapeMeasurement measured, summarise(timing, shape, rng.fork("bootstrap")));
  trial.coarse_us[shape] = measured.time.median;
  if (Stop stop = judge_floor(measured, shapes_[shape])) return stop;
  if (timing.clock_disagreement > 1.5)
    return Stop(Rejected{"clock", fmt::format("device time is {:.1f} times the host's time for the same batch",
                                              timing.clock_disagreement)});
  trial.detail +=
      fmt::format("{}{}: {} samples", trial.detail.empty() ? "" : ", ", measured.shape, measured.time.samples);
  if (pace.baselines)
    trial.measurement.shapes.push_back(std::move(measured));
  else
    trial.samples.push_back({measured.shape, measured.weight, timing.kernels[0].us});
  return Stop{};
}

const TimeEstimate* Judge::reference_for(std::size_t shape, const std::string& baseline) const {
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
  for (std::size_t k = 1; k < timing.kernels.size(); ++k) {
    measured.baselines[timing.kernels[k].name] = estimate(timing.kernels[k].us);
    measured.speedups[timing.kernels[k].name] = speedup_of(timing.kernels[0], timing.kernels[k], rng);
  }
  if (const auto known = references_.find(measured.shape); known != references_.end())
    for (const auto& [name, time] : known->second)
      if (reference_for(shape, name) != nullptr && measured.time.low > 0) {
        measured.baselines[name] = time;
        measured.speedups[name] = {name, time.median / measured.time.median, time.median / measured.time.high,
                                   time.median / measured.time.low};
      }
  if (peaks_ && task_.graph) {
    KERF_TRY(const ir::Cost cost, ir::cost(*task_.graph, shapes_[shape].symbols));
    measured.speed_of_light = floor_of(cost, *peaks_, task_.precision);
    if (measured.speed_of_light)
      measured.speed_of_light->fraction = measured.speed_of_light->floor_us / measured.time.median;
  }
  return measured;
}

Judge::Stop Judge::judge_floor(const ShapeMeasurement& measured, const ShapeSet& shape) const {
  if (!peaks_ || !task_.graph) return {};
  const auto cost = ir::cost(*task_.graph, shape.symbols);
  if (!cost) return {};
  const auto floor = physical_floor_us(*cost, *peaks_, tools_.target.device->facts());
  if (!floor || measured.time.median >= kFloorMargin * *floor) return {};
  return Stop(Rejected{
      "floor",
      fmt::format("{:.3g} us on shape '{}' is below the physical floor of {:.3g} us (bytes that must move over "
                  "the measured bandwidth): quarantined, not rewarded",
                  measured.time.median, shape.name, *floor)});
}

Result<Bindings> resolve_tunables(const Candidate& candidate, const Bindings& given) {
  Bindings all;
  std::vector<std::string> names;
  for (const Tunable& tunable : candidate.tunables) {
    all[tunable.name] = tunable.values.front();
    names.push_back(tunable.name);
  }
  for (const auto& [name, value] : given) {
    if (all.find(name) == all.end())
      return fail(Errc::invalid_input,
                  fmt::format("{} has no tunable '{}'{}", candidate.name, name, did_you_mean(name, names)));
    all[name] = value;
  }
  return all;
}

void combine_speedups(Measurement& measurement) {
  if (measurement.shapes.empty()) return;
  std::optional<Speedup> weakest;  // the smallest ratio belongs to the strongest baseline
  for (const auto& [name, first] : measurement.shapes.front().speedups) {
    double log_ratio = 0, log_low = 0, log_high = 0, weight = 0;
    bool everywhere = true;
    for (const ShapeMeasurement& shape : measurement.shapes) {
      const auto found = shape.speedups.find(name);
      if (found == shape.speedups.end() || found->second.ratio <= 0) {
        everywhere = false;
        break;
      }
      log_ratio += shape.weight * std::log(found->second.ratio);
      log_low += shape.weight * std::log(found->second.low);
      log_high += shape.weight * std::log(found->second.high);
      weight += shape.weight;
    }
    if (!everywhere || weight <= 0) continue;
    const Speedup combined{name, std::exp(log_ratio / weight), std::exp(log_low / weight), std::exp(log_high / weight)};
    if (!weakest || combined.ratio < weakest->ratio) weakest = combined;
  }
  if (weakest) measurement.speedup = *weakest;
}

std::string Judge::toolchain() const {
  return fmt::format("{}; {}; kerf {}", tools_.target.language->version(), tools_.target.device->facts().driver,
                     kKerfVersion);
}

std::string Judge::evaluation_key(const Candidate& candidate, const Bindings& tunables) const {
  std::string text = candidate.id + task_.id + tools_.target.name + tools_.target.device->facts().name + toolchain() +
                     options_.only_shape;
  for (const auto& [name, value] : tunables) text += fmt::format("|{}={}", name, value);
  text += fmt::format("|{}|{}|{}|{}|{}", options_.skip_timing, options_.measure.time_limit.count(),
                      options_.measure.target_noise, options_.measure.max_rounds, peaks_ ? peaks_->device : "");
  text += judge_sources();
  return evaluation_cache_key(text);
}

}  // namespace kerf
