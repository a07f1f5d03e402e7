#include "search/bandit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kerf {
namespace {

constexpr int kPatience = 3;  // failures in a row after which a direction is left alone

/// Gamma(shape, 1) by Marsaglia and Tsang's rejection method.
double draw_gamma(double shape, Rng& rng) {
  if (shape < 1) return draw_gamma(shape + 1, rng) * std::pow(1.0 - rng.uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng.normal(), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1.0 - rng.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace

double draw_beta(double a, double b, Rng& rng) {
  const double x = draw_gamma(a, rng), y = draw_gamma(b, rng);
  return x + y > 0 ? x / (x + y) : 0.5;
}

void DirectionBandit::observe(const Cell& from, const Direction& direction, bool success) {
  const Key key{direction.dimension, direction.step};
  for (Count* count : {&pooled_[key], &by_cell_[{from, key}]}) {
    (success ? count->success : count->failure) += 1;
    count->failures_in_a_row = success ? 0 : count->failures_in_a_row + 1;
  }
}

Direction DirectionBandit::choose(const Cell& from, const std::string& bound, Rng& rng) const {
  Direction best{0, 0};
  double best_value = -1;
  for (int dimension = 0; dimension < kDimensions && dimension < static_cast<int>(from.size()); ++dimension) {
    const int level = from[static_cast<std::size_t>(dimension)];
    for (const int step : {1, 0, -1}) {
      if (level + step < 0 || level + step >= kLevels) continue;
      const Key key{dimension, step};
      double success = 1, failure = 1;
      if (dimension_name(dimension) == bound && step >= 0) success += 1;
      if (const auto found = pooled_.find(key); found != pooled_.end()) {
        // Other cells' experience counts, but no more than a handful of own observations.
        const double total = found->second.success + found->second.failure;
        const double share = std::min(1.0, 4 / std::max(total, 1e-9));
        success += share * found->second.success;
        failure += share * found->second.failure;
      }
      if (const auto found = by_cell_.find({from, key}); found != by_cell_.end()) {
        if (found->second.failures_in_a_row >= kPatience) continue;
        success += found->second.success;
        failure += found->second.failure;
      }
      const double value = draw_beta(success, failure, rng);
      if (value > best_value) {
        best_value = value;
        best = {dimension, step};
      }
    }
  }
  return best;
}

std::string direction_text(const Direction& direction) {
  return fmt::format("{}{:+d}", dimension_name(direction.dimension), direction.step);
}

std::optional<Direction> direction_from_text(const std::string& text) {
  for (int dimension = 0; dimension < kDimensions; ++dimension)
    for (const int step : {-1, 0, 1})
      if (direction_text({dimension, step}) == text) return Direction{dimension, step};
  return std::nullopt;
}

}  // namespace kerf
