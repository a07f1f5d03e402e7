#include "search/search_progress.hpp"

namespace kerf {

SearchProgress progress_of(const SearchState& state) {
  SearchProgress progress;
  progress.steps = static_cast<std::int64_t>(state.steps().size());
  progress.evaluations = state.evaluations();
  progress.duplicates = state.duplicates();
  progress.failures = state.failures();
  progress.since_improvement = state.since_improvement();
  progress.cells = static_cast<int>(state.archive().cells().size());
  progress.best_step = state.best_step();
  if (progress.best_step == 0) return progress;
  const Step& best = state.step(progress.best_step);
  const auto& measurement = std::get<Measurement>(best.evaluation.outcome);
  progress.best_name = best.name;
  // What was measured again stands by itself; the plain kernel has no estimate.
  const Speedup estimate = is_confirmation(best) ? Speedup{} : state.estimates().so_far(best.number);
  progress.best = estimate.ratio > 0 ? estimate : measurement.speedup;
  if (const auto* shape = main_shape(measurement)) progress.speed_of_light = shape->speed_of_light;
  return progress;
}

}  // namespace kerf
