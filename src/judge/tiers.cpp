// The tiers a candidate passes, as lists, and those of them that verify.

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "judge/judge.hpp"
#include "verify/guest.hpp"
#include "verify/repeats.hpp"

namespace kerf {
namespace {

/// Compilers know every candidate as kernel.<extension>. A candidate that is a file of the user's is named as that.
std::string with_source_name(std::string log, const Candidate& candidate, const std::string& target) {
  const std::string extension = target_extension(target), known = "kernel" + extension;
  if (extension.empty() || !candidate.name.ends_with(extension)) return log;
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/'; };
  for (std::size_t at = 0; (at = log.find(known, at)) != std::string::npos;) {
    const std::size_t end = at + known.size();
    if ((at > 0 && in_name(log[at - 1])) || (end < log.size() && in_name(log[end]))) {
      at = end;
      continue;
    }
    log.replace(at, known.size(), candidate.name);
    at += candidate.name.size();
  }
  return log;
}

/// Its small numbers are denormal: a caller who flushes denormals has other results.
bool is_half(const ir::TensorType& tensor) { return tensor.dtype == DType::f16; }

/// Microseconds for repeated calls of a kernel that is not a finalist; slow ones are repeated less often.
constexpr double kBriefRepeats = 20'000;

}  // namespace

std::vector<Judge::Tier> Judge::first_tiers(Trial& trial) {
  return {{"parse", [&] { return Result<Stop>(check_parse(trial)); }},
          {"compile", [&] { return check_build(trial, 0, 1); }},
          {"static", [&] { return check_static(trial); }},
          {"small shape", [&] { return check_shape(trial, 0, Gate::small_shape); }}};
}

std::vector<Judge::Tier> Judge::all_tiers(Trial& trial) {
  std::vector<Tier> tiers = first_tiers(trial);
  if (shapes_.size() > 1) {
    tiers.push_back({"compile rest", [&] { return check_build(trial, 1, shapes_.size()); }});
    tiers.push_back({"all shapes", [&]() -> Result<Stop> {
                       for (std::size_t s = 1; s < shapes_.size(); ++s) {
                         KERF_TRY(Stop stop, check_shape(trial, s, Gate::all_shapes));
                         if (stop) return stop;
                       }
                       return Stop{};
                     }});
  }
  if (options_.skip_timing) return tiers;
  const Pace pace{"fine", 0, true, false};  // verification warmed the kernel up, and said what a call takes
  tiers.push_back({"timing", [&trial, pace, this] { return measure_shapes(trial, pace); }});
  return tiers;
}

Judge::Trial Judge::make_trial(const Candidate& candidate, const Bindings& tunables, Observer& observer) const {
  Trial trial{candidate, tunables, observer, {}, {}, {}, {}, {}};
  trial.handles.resize(shapes_.size());
  trial.estimate_us.resize(shapes_.size());
  return trial;
}

Result<Judge::Stop> Judge::run_tiers(Trial& trial, const std::vector<Tier>& tiers, std::vector<TierTime>* times) {
  Result<Stop> end = Stop{};
  for (const Tier& tier : tiers) {
    const Nanoseconds start = tools_.clock.now();
    const auto parts = static_cast<std::ptrdiff_t>(prepared_.size());
    const DeviceOracle::Spent before = spent_on_data();
    trial.detail.clear();
    end = tier.work();
    if (!end) break;
    double ms = static_cast<double>((tools_.clock.now() - start).count()) / 1e6;
    double prepared = 0;
    for (auto part = prepared_.begin() + parts; part != prepared_.end(); ++part) prepared += part->ms;
    // Data sets that had given way to others; in a tier that prepares a shape they are part of that.
    if (const auto after = spent_on_data(); prepared == 0 && after.made > before.made) {
      prepared = after.ms - before.ms;
      prepared_.push_back(
          {fmt::format("{} data sets made again in {}", after.made - before.made, tier.name), prepared});
    }
    ms = std::max(0.0, ms - prepared);
    if (times != nullptr) times->push_back({tier.name, ms});
    const bool ok = !end->has_value();
    trial.observer.on_tier({trial.candidate.name, tier.name, ok, ms, ok ? trial.detail : outcome_name(**end)});
    if (!ok) break;
  }
  unload(trial);
  return end;
}

DeviceOracle::Spent Judge::spent_on_data() const {
  DeviceOracle::Spent all;
  for (const auto& context : contexts_)
    if (const auto* oracle = context ? dynamic_cast<const DeviceOracle*>(&context->bench()) : nullptr) {
      all.made += oracle->spent().made;
      all.ms += oracle->spent().ms;
    }
  return all;
}

void Judge::unload(Trial& trial) {
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    if (trial.handles[s]) contexts_[s]->bench().unload(*trial.handles[s]);
}

Judge::Stop Judge::check_parse(const Trial& trial) const {
  const HeaderRules rules{task_, shapes_, trial.tunables, tools_.target.name,
                          tools_.target.language->dialect().host_entry};
  auto refusal = judge_header(trial.candidate, rules);
  return refusal ? Stop(to_outcome(*std::move(refusal))) : Stop{};
}

Result<Judge::Stop> Judge::check_build(const Trial& trial, std::size_t first, std::size_t last) {
  for (std::size_t s = first; s < last; ++s) {
    KERF_TRY(const CompileOutcome outcome, build(trial.candidate, trial.tunables, s));
    if (const auto* failed = std::get_if<CompileFailed>(&outcome))
      return Stop(BuildFailed{shapes_[s].name, with_source_name(failed->log, trial.candidate, tools_.target.name)});
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

Result<std::variant<KernelHandle, Outcome>> Judge::load(Trial& trial, std::size_t shape, Gate gate) {
  using Loaded = std::variant<KernelHandle, Outcome>;
  if (trial.handles[shape]) return Loaded(*trial.handles[shape]);
  KERF_TRY(const CompileOutcome built, build(trial.candidate, trial.tunables, shape));
  const Bindings constants = with_tunables(shapes_[shape].symbols, trial.tunables);
  KERF_TRY(const auto loaded,
           contexts_[shape]->bench().load(std::get<Artifact>(built), trial.candidate.plan, constants));
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    KERF_TRY(Outcome outcome, after_fault(trial, shape, refusal_from(*fault, gate)));
    return Loaded(std::move(outcome));
  }
  trial.handles[shape] = std::get<KernelHandle>(loaded);
  return Loaded(*trial.handles[shape]);
}

/// The worker was replaced: nothing is loaded any more. A kernel of ours is replayed as a canary before anyone else is
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

Result<Judge::Stop> Judge::check_shape(Trial& trial, std::size_t shape, Gate gate) {
  KERF_TRY(ShapeContext* const context, this->context(shape, trial.observer));
  KERF_TRY(auto loaded, load(trial, shape, gate));
  if (auto* outcome = std::get_if<Outcome>(&loaded)) return Stop(std::move(*outcome));
  VerifyOptions options;
  options.gate = gate;
  options.call_limit = call_limit(*context);
  const DeviceFacts& facts = tools_.target.device->facts();
  if (facts.runs_on_host) options.cores = std::max(1, facts.compute_units);
  const Rng rng = Rng(options_.seed).fork(trial.candidate.id + shapes_[shape].name + "checked");
  options.seed = rng.fork("slots").bits();
  if (!options_.certify) options.repeat_us = kBriefRepeats;
  const auto data = context->checked(rng.fork("data"));
  KERF_TRY(auto refusal, verify(context->bench(), std::get<KernelHandle>(loaded), data, context->slots(),
                                context->outputs(), options, &trial.estimate_us[shape]));
  if (!refusal && facts.runs_on_host) {
    const oracle::DataSet& ordinary = *context->checked().front();
    KERF_TRY(refusal, verify_second_use(context->bench(), std::get<KernelHandle>(loaded), ordinary, context->slots(),
                                        context->outputs(), options));
    // Elsewhere guests are called as everybody is: no need to do so on every shape.
    if (!refusal && (gate == Gate::small_shape || tools_.target.language->dialect().host_entry)) {
      const bool halves = std::ranges::any_of(task_.inputs, is_half) || std::ranges::any_of(task_.outputs, is_half);
      const GuestVisit visit{gate == Gate::small_shape, context->slot_bytes(), trial.estimate_us[shape], !halves};
      KERF_TRY(refusal, verify_guest(context->bench(), std::get<KernelHandle>(loaded), 0, ordinary, context->outputs(),
                                     visit, options));
    }
  }
  if (!refusal) {
    trial.detail += fmt::format("{}{}: {}", trial.detail.empty() ? "" : ", ", shapes_[shape].name,
                                counted(data.size(), "data set"));
    KERF_TRY(Stop stop, check_properties(trial, shape));
    return stop || shape > 0 ? Result<Stop>(std::move(stop)) : check_races(trial);
  }
  if (worker_lives(*refusal)) return Stop(to_outcome(*std::move(refusal)));
  KERF_TRY(Outcome outcome, after_fault(trial, shape, *std::move(refusal)));
  return Stop(std::move(outcome));
}

Result<std::optional<Refusal>> Judge::run_canary(ShapeContext& shape) {
  KERF_TRY(const LoadedBaseline* const canary, shape.canary());
  if (canary == nullptr) return std::optional<Refusal>{};
  VerifyOptions options;
  options.gate = Gate::canary;
  options.call_limit = std::chrono::minutes(2);
  return verify_call(shape.bench(), *canary->handle, 0, *shape.checked().front(), Poison::a, shape.outputs(), options);
}

}  // namespace kerf
