// Two kernels of a search against each other.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "judge/judge.hpp"

namespace kerf {
namespace {

constexpr int kFewestRounds = 12;  // enough for an interval of a few percent where the machine is quiet

}  // namespace

Result<PairedOutcome> Judge::compare(const PairedKernel& ours, const PairedKernel& theirs) {
  NullObserver silent;
  Trial us = make_trial(ours.candidate, ours.tunables, silent),
        them = make_trial(theirs.candidate, theirs.tunables, silent);
  ++comparisons_;
  Result<PairedOutcome> result = PairedOutcome{};
  std::vector<WeightedEstimate> estimates;
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    if (shapes_[s].weight <= 0) continue;
    auto paired = compare_on(us, them, s);
    if (paired && std::holds_alternative<Speedup>(*paired)) {
      const Speedup& speedup = std::get<Speedup>(*paired);
      estimates.push_back({shapes_[s].weight, speedup.ratio, speedup.low, speedup.high});
      result->shapes.push_back({shapes_[s].name, shapes_[s].weight, speedup});
      continue;
    }
    if (paired)
      result = std::get<PairedOutcome>(std::move(*paired));
    else
      result = tl::unexpected<Error>(paired.error());
    estimates.clear();
    break;
  }
  unload(us);
  unload(them);
  if (const auto combined = combine(estimates); combined && result)
    result->speedup = Speedup{theirs.candidate.name, combined->centre, combined->low, combined->high};
  return result;
}

Result<std::variant<Speedup, PairedOutcome>> Judge::compare_on(Trial& ours, Trial& theirs, std::size_t shape) {
  using Paired = std::variant<Speedup, PairedOutcome>;
  Paired nobody = PairedOutcome{};  // the earlier kernel failed, which is no verdict on the new one
  KERF_TRY(ShapeContext* const context, this->context(shape, ours.observer));
  Stop reload_failed[2];
  std::vector<TimedKernel> kernels;
  for (Trial* trial : {&ours, &theirs}) {
    KERF_TRY(auto ready, ready_to_time(*trial, shape, reload_failed[kernels.size()]));
    if (auto* outcome = std::get_if<Outcome>(&ready))
      return trial == &ours ? Paired(PairedOutcome{std::move(*outcome), {}}) : nobody;
    kernels.push_back(std::get<TimedKernel>(std::move(ready)));
  }
  MeasureOptions options = options_.measure;
  options.call_limit = call_limit(*context);
  options.flush = context->needs_flush();
  options.min_rounds = std::min(std::max(options.min_rounds, kFewestRounds), options.max_rounds);
  options.min_baseline_rounds = options.max_rounds;  // both in every round
  options.settle_rounds = options.max_rounds;        // the whole time, if need be: the two are near each other
  const std::vector<const oracle::DataSet*> data = context->timed();
  std::optional<Refusal> refusal;
  std::size_t refused = 0;
  const CheckSlot check = [&](std::size_t kernel, int slot, const oracle::DataSet& set,
                              const SlotReport& report) -> Result<bool> {
    refusal = judge_slot(report, set, context->outputs());
    if (refusal) add_wrong_box(*refusal, context->bench(), slot, set, context->outputs());
    refused = kernel;
    return !refusal.has_value();
  };
  Rng rng = Rng(options_.seed).fork(fmt::format("comparison {} {}", comparisons_, shapes_[shape].name));
  std::unique_lock quiet(quiet_);
  auto timed = time_kernels(context->bench(), context->slots(), kernels, data, options, rng, tools_.clock, check);
  quiet.unlock();
  if (reload_failed[0]) return Paired(PairedOutcome{std::move(reload_failed[0]), {}});
  if (reload_failed[1]) return nobody;
  KERF_TRY(const TimingResult timing, std::move(timed));
  if (timing.fault) {
    Trial& failed = timing.faulty == 0 ? ours : theirs;
    KERF_TRY(Outcome outcome, after_fault(failed, shape, refusal_from(*timing.fault, Gate::timing)));
    return timing.faulty == 0 ? Paired(PairedOutcome{std::move(outcome), {}}) : nobody;
  }
  if (refusal) return refused == 0 ? Paired(PairedOutcome{to_outcome(*std::move(refusal)), {}}) : nobody;
  const Speedup speedup = speedup_of(timing.kernels[0], timing.kernels[1], rng.fork("bootstrap"));
  if (!(speedup.ratio > 0) || !(speedup.low > 0)) return nobody;
  return Paired(speedup);
}

}  // namespace kerf
