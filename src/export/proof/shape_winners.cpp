#include "export/proof/shape_winners.hpp"

#include <algorithm>

#include "model/candidate.hpp"
#include "run/run_view.hpp"

namespace kerf::exporting {

std::map<std::string, Bindings> winners_by_shape(const std::vector<Step>& steps, const Step& winner) {
  std::map<std::string, Bindings> result;
  const Measurement* measured = measurement_of(winner);
  if (measured == nullptr || winner.tunables.empty()) return result;
  std::map<std::string, TimeEstimate> best;
  for (const auto& shape : measured->shapes) best[shape.shape] = shape.time;
  const auto own = best;
  const std::string kernel = without_defaults(winner.source);
  const auto refuted = refuted_steps(steps);
  for (const Step& step : steps) {
    if (refuted.contains(step.number) || !(measured_speedup(step).ratio > 0) ||
        step.tunables.size() != winner.tunables.size() || without_defaults(step.source) != kernel)
      continue;
    for (const auto& shape : measurement_of(step)->shapes) {
      const auto known = best.find(shape.shape);
      if (known == best.end() || !(shape.time.high < own.at(shape.shape).low) ||
          !(shape.time.median < known->second.median))
        continue;
      known->second = shape.time;
      result[shape.shape] = step.tunables;
    }
  }
  return result;
}

}  // namespace kerf::exporting
