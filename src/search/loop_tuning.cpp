// Tuning: the values of one kernel's tunables are searched by themselves.

#include <algorithm>
#include <utility>

#include "base/rng.hpp"
#include "search/search.hpp"
#include "search/variants.hpp"

namespace kerf {

/// How much of the budget is gone, 0 to 1; without one, how much of the patience.
double Search::share_used() const {
  double used = 0;
  if (options_.evaluations > 0) used = static_cast<double>(state_.evaluations()) / options_.evaluations;
  if (options_.seconds > 0) used = std::max(used, seconds() / options_.seconds);
  if (options_.patience > 0) used = std::max(used, static_cast<double>(state_.since_improvement()) / options_.patience);
  return used;
}

constexpr int kFewestTrials = 4, kMostTrials = 40;

/// Whether the tunables of the best kernel should be searched by themselves now, or an interrupted tuning be ended.
bool Search::is_tuning_due() const {
  if (options_.search != "kerf" || tuning_ != 0 || reserved_ || following_) return false;
  for (const auto& [step, tuning] : state_.tunings())
    if (!tuning.finished) return true;
  const int done = static_cast<int>(state_.tunings().size());
  const Elite* best = state_.archive().best();
  const int left = options_.evaluations > 0 ? options_.evaluations - state_.evaluations() : kMostTrials * 2;
  if (done >= options_.tunings || best == nullptr || left < 2 * kFewestTrials) return false;
  if (share_used() < 0.4 + 0.35 * done || state_.tunings().contains(best->step)) return false;
  const auto& tunables = state_.candidate(best->step).tunables;
  return std::any_of(tunables.begin(), tunables.end(), [](const Tunable& t) { return t.values.size() > 1; });
}

Status Search::begin_tuning() {
  for (const auto& [step, tuning] : state_.tunings()) {
    if (tuning.finished) continue;
    tuning_ = step;  // interrupted: the trials are known, the verdict is not
    return tuned(Tuned{tuning.best, {}});
  }
  tuning_ = state_.archive().best()->step;
  const int left = options_.evaluations > 0 ? options_.evaluations - state_.evaluations() : kMostTrials * 2;
  const int trials = std::clamp(static_cast<int>(options_.tune_share * left), kFewestTrials, kMostTrials);
  runner_.submit(++last_ticket_, TuneJob{state_.candidate(tuning_), trials,
                                         Rng(options_.seed).fork(fmt::format("tune {}", tuning_)).bits()});
  return {};
}

/// Asked on the device's lane. Tuning leaves the last tenth of the time to other things.
bool Search::tuning_goes_on() const {
  return !inputs_.interrupted && (options_.seconds <= 0 || seconds() < 0.9 * options_.seconds);
}

Status Search::tuned(Result<Tuned> result) {
  const std::int64_t parent = std::exchange(tuning_, 0);
  if (inputs_.interrupted) return {};
  if (!result && result.error().code != Errc::invalid_input) return tl::unexpected<Error>(result.error());
  // Nothing to tune, or nothing better: the step itself stands, and its known code ends the tuning.
  std::optional<Planned> planned;
  if (result && !result->best.empty()) {
    KERF_TRY(planned, tuned_variant(state_, parent, result->best));
  }
  if (!planned) planned = variant_of(state_, parent, Stage::tune, "tune", "tuning found nothing better");
  std::optional<Evaluation> judged;
  if (result && planned->step.tunables == result->verdict.tunables && !result->verdict.candidate_id.empty()) {
    judged = std::move(result->verdict);
    judged->candidate_id = planned->candidate.id;  // the same code, with its values as the defaults
  }
  add(*std::move(planned), true, Effort::search, std::move(judged));
  return {};
}

}  // namespace kerf
