// The short look at a candidate, for those who compare many variants of one.

#include <fmt/format.h>

#include "judge/judge.hpp"

namespace kerf {

Result<QuickTiming> Judge::time_quickly(const Candidate& candidate, const Bindings& tunables, int rounds,
                                        Observer& observer) {
  std::string key = candidate.id;
  for (const auto& [name, value] : tunables) key += fmt::format("|{}={}", name, value);
  Trial trial{candidate, tunables, observer, {}, {}, {}, {}, {}};
  trial.handles.resize(shapes_.size());
  trial.coarse_us.resize(shapes_.size());
  Stop end;
  const Tier tier = [&](const std::string& name, const std::function<Result<Stop>()>& work) -> Result<bool> {
    const Nanoseconds start = tools_.clock.now();
    trial.detail.clear();
    KERF_TRY(end, work());
    const double ms = static_cast<double>((tools_.clock.now() - start).count()) / 1e6;
    observer.on_tier({candidate.name, name, !end.has_value(), ms, end ? outcome_name(*end) : trial.detail});
    return !end.has_value();
  };
  ++quick_timings_;
  const Status looked = look(trial, rounds, passed_.count(key) != 0, tier);
  unload(trial);
  KERF_TRY_VOID(looked);
  QuickTiming result;
  result.refused = std::move(end);
  if (!result.refused) {
    passed_.insert(key);
    result.shapes = std::move(trial.samples);
  }
  return result;
}

Status Judge::look(Trial& trial, int rounds, bool known, const Tier& tier) {
  if (!known) {
    KERF_TRY(bool alive, tier("parse", [&] { return check_parse(trial); }));
    if (!alive) return {};
    KERF_TRY(alive, tier("compile", [&] { return check_build(trial, 0, 1); }));
    if (!alive) return {};
    KERF_TRY(alive, tier("static", [&] { return check_static(trial); }));
    if (!alive) return {};
    KERF_TRY(alive, tier("small shape", [&] { return check_shape(trial, 0, "small shape"); }));
    if (!alive) return {};
  }
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    if (shapes_[s].weight <= 0) continue;
    KERF_TRY(const bool alive, tier("quick timing", [&]() -> Result<Stop> {
               if (s > 0) {
                 KERF_TRY(Stop stop, check_build(trial, s, s + 1));
                 if (stop) return stop;
               }
               KERF_TRY_VOID(context(s, trial.observer));
               return measure_shape(trial, s, {fmt::format("quick timing {}", quick_timings_), rounds, false, true});
             }));
    if (!alive) return {};
  }
  return {};
}

}  // namespace kerf
