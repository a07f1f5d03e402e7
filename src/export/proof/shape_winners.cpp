#include "export/proof/shape_winners.hpp"

#include <algorithm>

#include "model/candidate.hpp"
#include "run/run_view.hpp"

namespace kerf::exporting {
namespace {

/// The kernel whatever its tunables' defaults are; the source itself when it cannot be read.
std::string without_choice(const Step& step) {
  const auto candidate = parse_candidate(step.name, step.source);
  if (!candidate) return step.source;
  // Reordering keeps the others in place, so the order is made the same first.
  std::string source = step.source;
  for (const auto& tunable : candidate->tunables) {
    std::vector<std::int64_t> values = tunable.values;
    std::sort(values.begin(), values.end(), std::greater<>());
    for (const std::int64_t value : values)
      if (auto next = with_defaults(source, {{tunable.name, value}})) source = *std::move(next);
  }
  return source;
}

}  // namespace

std::map<std::string, Bindings> winners_by_shape(const std::vector<Step>& steps, const Step& winner) {
  std::map<std::string, Bindings> result;
  const Measurement* measured = measurement_of(winner);
  if (measured == nullptr || winner.tunables.empty()) return result;
  std::map<std::string, TimeEstimate> best;
  for (const auto& shape : measured->shapes) best[shape.shape] = shape.time;
  const auto own = best;
  const std::string kernel = without_choice(winner);
  const auto refuted = refuted_steps(steps);
  for (const Step& step : steps) {
    if (refuted.contains(step.number) || !(measured_speedup(step).ratio > 0) ||
        step.tunables.size() != winner.tunables.size() || without_choice(step) != kernel)
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
