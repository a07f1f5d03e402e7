#include "propose/agents/gains.hpp"

#include <algorithm>
#include <cmath>

namespace kerf::agents {

std::optional<double> Gains::observe(const Step& step) {
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  const bool timed = measured != nullptr && measured->speedup.ratio > 0;
  const double figure = timed ? std::log(compared_speedup(*measured).ratio) : 0;
  if (timed) speedups_[step.number] = figure;
  if (step.stage != Stage::start && step.stage != Stage::search) return std::nullopt;
  if (!timed) return 0;
  // Timed in turn with its parent: measured, not concluded from two speedups.
  if (measured->comparison && !step.parents.empty() && measured->comparison->step == step.parents.front())
    return std::max(0.0, std::log(measured->comparison->ratio));
  const auto parent = step.parents.empty() ? speedups_.end() : speedups_.find(step.parents.front());
  return std::max(0.0, figure - (parent == speedups_.end() ? 0.0 : parent->second));
}

}  // namespace kerf::agents
