#include "base/gain_bandit.hpp"

#include <algorithm>
#include <cmath>

namespace kerf {

void GainBandit::observe(const std::string& arm, double gain, double cost) {
  for (auto& [name, known] : arms_)
    for (double* sum : {&known.weight, &known.gain, &known.squares, &known.cost}) *sum *= options_.fade;
  Arm& mine = arms_[arm];
  mine.weight += 1;
  mine.gain += gain;
  mine.squares += gain * gain;
  mine.cost += std::max(cost, 0.0);
}

std::size_t GainBandit::choose(std::span<const std::string> arms, Rng& rng) const {
  Arm all;
  for (const auto& [name, arm] : arms_) {
    all.weight += arm.weight;
    all.gain += arm.gain;
    all.squares += arm.squares;
    all.cost += arm.cost;
  }
  const bool known = all.weight > 0;
  const double mean_cost = known && all.cost > 0 ? all.cost / all.weight : 1;
  const double mean_gain = known ? all.gain / all.weight : options_.first_gain;
  const double prior = std::max(options_.optimism * mean_gain, options_.least_prior);
  const double spread = std::max(known ? std::sqrt(all.squares / all.weight) : 0.0, options_.least_spread);
  std::size_t best = 0;
  double best_value = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const auto found = arms_.find(arms[i]);
    const Arm arm = found == arms_.end() ? Arm{} : found->second;
    const double seen = arm.weight + options_.prior_weight;
    const double gain = (arm.gain + options_.prior_weight * prior) / seen + rng.normal() * spread / std::sqrt(seen);
    const double cost = (arm.cost + options_.prior_weight * mean_cost) / seen / mean_cost;
    // Below zero a cheap arm would be the worse for being cheap.
    const double value = gain > 0 ? gain / std::max(cost, options_.least_cost) : gain;
    if (i == 0 || value > best_value) {
      best = i;
      best_value = value;
    }
  }
  return best;
}

}  // namespace kerf
