// What is looked at beyond right and fast: equal bits, independent rows, and many more calls.

#include <algorithm>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "judge/judge.hpp"
#include "verify/soak.hpp"

namespace kerf {
namespace {

/// Whether the process that the kernel ran in is still the same.
bool worker_lives(const Refusal& refusal) {
  if (std::holds_alternative<WrongResult>(refusal)) return true;
  const auto* rejected = std::get_if<Rejected>(&refusal);
  return rejected != nullptr && rejected->gate != Gate::sandbox && rejected->gate != Gate::side_effects;
}

}  // namespace

Result<Judge::Stop> Judge::settle(Trial& trial, std::size_t shape, Seen seen, Gate gate, bool required,
                                  std::optional<bool>& noted) {
  if (auto* refusal = std::get_if<Refusal>(&seen)) {
    KERF_TRY(Outcome outcome, after_fault(trial, shape, std::move(*refusal)));
    return Stop(std::move(outcome));
  }
  const std::string& difference = std::get<std::string>(seen);
  noted = noted.value_or(true) && difference.empty();
  if (!required || difference.empty()) return Stop{};
  return Stop(Rejected{gate, fmt::format("the task requires '{}': {}", gate_name(gate), difference)});
}

Result<Judge::Stop> Judge::check_properties(Trial& trial, std::size_t shape) {
  const bool smallest = shape == 0;
  if (!smallest && !task_.require_deterministic && !task_.require_batch_invariant) return Stop{};
  ShapeContext& context = *contexts_[shape];
  VerifyOptions options;
  options.gate = smallest ? Gate::small_shape : Gate::all_shapes;
  options.call_limit = call_limit(context);
  const auto data = context.checked();
  if (smallest || task_.require_deterministic) {
    const auto manners = repeat_manners(tools_.target.device->facts());
    KERF_TRY(Seen seen, compare_repeats(context.bench(), *trial.handles[shape], *data.front(), context.slots(), manners,
                                        context.outputs(), options));
    KERF_TRY(Stop stop, settle(trial, shape, std::move(seen), Gate::deterministic, task_.require_deterministic,
                               trial.seen.deterministic));
    if (stop) return stop;
  }
  if (task_.batch.empty() || data.size() < 2 || !(smallest || task_.require_batch_invariant)) return Stop{};
  // One other data set is enough for a note. Where it is required all are tried: a row may depend on a single sign in
  // another.
  const std::size_t others =
      task_.require_batch_invariant ? (smallest ? data.size() - 1 : std::min<std::size_t>(2, data.size() - 1)) : 1;
  for (std::size_t pass = 0; pass < 2 * others; ++pass) {
    const auto rows = with_other_rows(task_, shapes_[shape], *data[0], *data[1 + pass / 2], pass % 2 == 0);
    if (!rows) return Stop{};  // the data never was in the host's memory
    if (!rows_are_independent_) {
      const Status independent = check_rows_are_independent(task_, shapes_[shape], *reference_, *data[0], *rows);
      if (!independent && task_.require_batch_invariant) return tl::unexpected<Error>(independent.error());
      rows_are_independent_ = independent.has_value();
    }
    if (!*rows_are_independent_) return Stop{};
    KERF_TRY(Seen seen,
             compare_rows(context.bench(), *trial.handles[shape], *data[0], *rows, context.outputs(), options));
    KERF_TRY(Stop stop, settle(trial, shape, std::move(seen), Gate::batch_invariant, task_.require_batch_invariant,
                               trial.seen.batch_invariant));
    if (stop) return stop;
  }
  return Stop{};
}

Result<Judge::Stop> Judge::check_specials(Trial& trial, std::size_t shape) {
  ShapeContext& context = *contexts_[shape];
  std::vector<const oracle::DataSet*> specials = context.checked();
  // What was made on a device may have given way to other data, and would have to be made again.
  std::erase_if(specials, [](const oracle::DataSet* data) {
    return data->distribution != oracle::pattern_name(oracle::Pattern::specials) || data->inputs.empty();
  });
  if (specials.empty()) return Stop{};
  Rng rng = Rng(options_.seed).fork("specials " + trial.candidate.id + shapes_[shape].name);
  const auto which = static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(specials.size()) - 1));
  VerifyOptions options;
  options.gate = Gate::timing;
  options.call_limit = call_limit(context);
  KERF_TRY(auto refusal,
           verify_call(context.bench(), *trial.handles[shape], static_cast<int>(rng.integer(0, context.slots() - 1)),
                       *specials[which], rng.chance(0.5) ? Poison::a : Poison::b, context.outputs(), options));
  if (!refusal) return Stop{};
  if (worker_lives(*refusal)) return Stop(to_outcome(*std::move(refusal)));
  KERF_TRY(Outcome outcome, after_fault(trial, shape, *std::move(refusal)));
  return Stop(std::move(outcome));
}

Result<Judge::Stop> Judge::check_soak(Trial& trial) {
  Rng rng = Rng(options_.seed).fork("soak " + trial.candidate.id);
  Certification certification;
  const Nanoseconds start = tools_.clock.now();
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    KERF_TRY(auto loaded, load(trial, shape, Gate::soak));
    if (auto* outcome = std::get_if<Outcome>(&loaded)) return Stop(std::move(*outcome));
    ShapeContext& context = *contexts_[shape];
    SoakOptions options;
    // Half of the time for the smallest shape, where most calls fit; the rest is shared by the others.
    const double share = shapes_.size() == 1 ? 1 : shape == 0 ? 0.5 : 0.5 / static_cast<double>(shapes_.size() - 1);
    options.budget = std::chrono::milliseconds(static_cast<std::int64_t>(options_.soak_seconds * 1000 * share));
    const DeviceFacts& facts = tools_.target.device->facts();
    options.max_threads = facts.runs_on_host ? 2 * std::max(1, facts.compute_units) : 0;
    options.verify.gate = Gate::soak;
    options.verify.call_limit = call_limit(context);
    KERF_TRY(SoakResult result, soak(context.bench(), std::get<KernelHandle>(loaded), context.checked(),
                                     context.slots(), context.outputs(), options, tools_.clock, rng));
    certification.calls += result.calls;
    if (!result.refusal) continue;
    if (worker_lives(*result.refusal)) return Stop(to_outcome(*std::move(result.refusal)));
    KERF_TRY(Outcome outcome, after_fault(trial, shape, *std::move(result.refusal)));
    return Stop(std::move(outcome));
  }
  certification.seconds = static_cast<double>((tools_.clock.now() - start).count()) / 1e9;
  trial.certification = certification;
  trial.detail = fmt::format("{} calls, 0 wrong", certification.calls);
  return Stop{};
}

}  // namespace kerf
