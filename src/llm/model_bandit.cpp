#include "llm/model_bandit.hpp"

#include <algorithm>
#include <cmath>

namespace kerf::llm {
namespace {

constexpr double kFade = 0.98;        // per observation: half is forgotten after 34
constexpr double kPriorWeight = 1.0;  // observations the prior is worth
constexpr double kOptimism = 1.3;     // the prior's gain, times the average
constexpr double kLeastSpread = 0.05;

}  // namespace

void ModelBandit::observe(const std::string& model, double gain, double cost) {
  for (auto& [name, arm] : arms_)
    for (double* sum : {&arm.weight, &arm.gain, &arm.squares, &arm.cost}) *sum *= kFade;
  Arm& mine = arms_[model];
  mine.weight += 1;
  mine.gain += gain;
  mine.squares += gain * gain;
  mine.cost += std::max(cost, 0.0);
}

std::size_t ModelBandit::choose(std::span<const std::string> models, Rng& rng) const {
  Arm all;
  for (const auto& [name, arm] : arms_) {
    all.weight += arm.weight;
    all.gain += arm.gain;
    all.squares += arm.squares;
    all.cost += arm.cost;
  }
  const double weight = std::max(all.weight, 1.0), mean_cost = all.cost > 0 ? all.cost / weight : 1;
  const double prior = std::max(kOptimism * all.gain / weight, kLeastSpread);
  const double spread = std::max(std::sqrt(all.squares / weight), kLeastSpread);
  std::size_t best = 0;
  double best_value = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto found = arms_.find(models[i]);
    const Arm arm = found == arms_.end() ? Arm{} : found->second;
    const double seen = arm.weight + kPriorWeight;
    const double gain = (arm.gain + kPriorWeight * prior) / seen + rng.normal() * spread / std::sqrt(seen);
    const double cost = (arm.cost + kPriorWeight * mean_cost) / seen / mean_cost;
    // Below zero a cheap model would be the worse for being cheap.
    const double value = gain > 0 ? gain / std::max(cost, 0.02) : gain;
    if (i == 0 || value > best_value) {
      best = i;
      best_value = value;
    }
  }
  return best;
}

}  // namespace kerf::llm
