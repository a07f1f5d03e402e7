// The short timing of a candidate, for those who compare many variants of one.

#include <fmt/format.h>

#include "judge/judge.hpp"

namespace kerf {

Result<QuickTiming> Judge::time_quickly(const Candidate& candidate, const Bindings& tunables, int rounds,
                                        Observer& observer) {
  std::string key = candidate.id;
  for (const auto& [name, value] : tunables) key += fmt::format("|{}={}", name, value);
  Trial trial = make_trial(candidate, tunables, observer);
  ++quick_timings_;
  KERF_TRY(Stop end, run_tiers(trial, quick_tiers(trial, rounds, passed_.count(key) != 0), nullptr));
  QuickTiming result;
  result.refused = std::move(end);
  if (!result.refused) {
    passed_.insert(key);
    result.shapes = std::move(trial.samples);
  }
  return result;
}

std::vector<Judge::Tier> Judge::quick_tiers(Trial& trial, int rounds, bool known) {
  std::vector<Tier> tiers;
  if (!known) tiers = first_tiers(trial);
  const Pace pace{fmt::format("quick timing {}", quick_timings_), rounds, false, true};
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    if (shapes_[s].weight <= 0) continue;
    tiers.push_back({"quick timing", [&trial, pace, s, this]() -> Result<Stop> {
                       if (s > 0) {
                         KERF_TRY(Stop stop, check_build(trial, s, s + 1));
                         if (stop) return stop;
                       }
                       KERF_TRY_VOID(context(s, trial.observer));
                       return measure_shape(trial, s, pace);
                     }});
  }
  return tiers;
}

}  // namespace kerf
