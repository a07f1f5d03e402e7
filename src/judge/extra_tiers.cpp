// What is looked at beyond right and fast: equal bits, independent rows, and many more calls.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "judge/judge.hpp"
#include "verify/soak.hpp"

namespace kerf {
namespace {

/// Splits of the rows of shapes other than the smallest, whose calls take longer.
constexpr int kLargeSplits = 4;

constexpr std::chrono::milliseconds kRaceBudget{30};
constexpr std::int64_t kRaceCalls = 100;

/// The bits of a result that is not a number are nobody's promise.
bool has_nan(const oracle::DataSet& data) {
  return data.distribution == oracle::pattern_name(oracle::Pattern::specials);
}

}  // namespace

Result<Judge::Stop> Judge::settle(Trial& trial, std::size_t shape, Seen seen, Gate gate, bool required,
                                  std::optional<bool>& noted) {
  if (auto* refusal = std::get_if<Refusal>(&seen)) {
    if (worker_lives(*refusal)) return Stop(to_outcome(std::move(*refusal)));
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
  // One other data set is enough for a note. Where it is required a row may depend on a single sign in another, and two
  // orders of a sum often give the same bits: all data sets are tried, each in turn as the one whose rows are kept.
  const bool required = task_.require_batch_invariant;
  const int bits = split_bits(shapes_[shape].symbols.at(task_.batch));
  const std::size_t splits =
      required ? std::max(data.size() - 1, static_cast<std::size_t>(smallest ? bits : std::min(bits, kLargeSplits)))
               : 1;
  Rng rng = Rng(options_.seed).fork("rows " + trial.candidate.id + shapes_[shape].name);
  const auto first_bit = smallest ? 0 : rng.integer(0, bits - 1);
  for (std::size_t pass = 0; pass < 2 * splits; ++pass) {
    const std::size_t step = pass / 2, kept = has_nan(*data[step % data.size()]) ? 0 : step % data.size();
    const std::size_t other = (kept + 1 + step / data.size() % (data.size() - 1)) % data.size();
    const RowSplit split{static_cast<int>((first_bit + static_cast<int>(step)) % bits), pass % 2 == 1};
    const auto rows = with_other_rows(task_, shapes_[shape], *data[kept], *data[other], split);
    if (!rows) return Stop{};  // the data never was in the host's memory
    if (!rows_are_independent_) {
      const Status independent = check_rows_are_independent(task_, shapes_[shape], *reference_, *data[kept], *rows);
      if (!independent && required) return tl::unexpected<Error>(independent.error());
      rows_are_independent_ = independent.has_value();
    }
    if (!*rows_are_independent_) return Stop{};
    KERF_TRY(Seen seen,
             compare_rows(context.bench(), *trial.handles[shape], *data[kept], *rows, context.outputs(), options));
    KERF_TRY(Stop stop,
             settle(trial, shape, std::move(seen), Gate::batch_invariant, required, trial.seen.batch_invariant));
    if (stop) return stop;
  }
  return Stop{};
}

Result<Judge::Stop> Judge::check_after_timing(Trial& trial, std::size_t shape, bool briefly) {
  ShapeContext& context = *contexts_[shape];
  Rng rng = Rng(options_.seed).fork("after timing " + trial.candidate.id + shapes_[shape].name);
  VerifyOptions options;
  options.gate = Gate::timing;
  options.call_limit = call_limit(context);
  using oracle::Pattern;
  for (const Pattern pattern : {Pattern::normal, Pattern::normal, Pattern::specials}) {
    if (briefly && pattern == Pattern::normal) continue;
    std::vector<const oracle::DataSet*> sets = context.checked();
    // What was made on a device may have given way to other data, and would have to be made again.
    std::erase_if(sets, [&](const oracle::DataSet* data) {
      return data->distribution != oracle::pattern_name(pattern) || data->inputs.empty();
    });
    if (sets.empty()) continue;
    const auto which = static_cast<std::size_t>(rng.integer(0, std::ssize(sets) - 1));
    const int slot = static_cast<int>(rng.integer(0, context.slots() - 1));
    KERF_TRY(auto refusal, verify_call(context.bench(), *trial.handles[shape], slot, *sets[which],
                                       rng.chance(0.5) ? Poison::a : Poison::b, context.outputs(), options));
    if (!refusal) continue;
    if (worker_lives(*refusal)) return Stop(to_outcome(*std::move(refusal)));
    KERF_TRY(Outcome outcome, after_fault(trial, shape, *std::move(refusal)));
    return Stop(std::move(outcome));
  }
  return Stop{};
}

/// Many calls more on the smallest shape, by changing numbers of threads: a lost update in one call of thirty would
/// else be seen by luck. Where calls take long, or kernels run elsewhere, that is left to the soak; so it is where C++
/// does not speak of OpenMP.
Result<Judge::Stop> Judge::check_races(Trial& trial) {
  const DeviceFacts& facts = tools_.target.device->facts();
  const bool has_threads =
      !tools_.target.language->dialect().host_entry || trial.candidate.source.find("omp") != std::string::npos;
  if (!facts.runs_on_host || facts.compute_units < 2 || !has_threads) return Stop{};
  Rng rng = Rng(options_.seed).fork("races " + trial.candidate.id);
  ShapeContext& context = *contexts_.front();
  SoakOptions options;
  options.budget = kRaceBudget;
  options.max_calls = kRaceCalls;
  options.brief = true;
  options.max_threads = 2 * facts.compute_units;
  options.verify.gate = Gate::small_shape;
  options.verify.call_limit = call_limit(context);
  KERF_TRY(SoakResult result, soak(context.bench(), *trial.handles.front(), context.checked(), context.slots(),
                                   context.outputs(), options, tools_.clock, rng));
  if (!result.refusal) return Stop{};
  if (worker_lives(*result.refusal)) return Stop(to_outcome(*std::move(result.refusal)));
  KERF_TRY(Outcome outcome, after_fault(trial, 0, *std::move(result.refusal)));
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
