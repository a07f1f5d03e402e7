#pragma once
// Which operation and which direction to try next: Thompson sampling on what earlier steps gained.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/archive.hpp"
#include "base/gain_bandit.hpp"
#include "base/rng.hpp"
#include "propose/proposer.hpp"

namespace kerf {

/// Shares the budget between arms (proposer and operation) by gain per second. Half of what was seen is forgotten after
/// 23 observations: an operation that was good early (a new family of kernels) may be spent later.
class OperationBandit : public GainBandit {
 public:
  OperationBandit()
      : GainBandit(GainBanditOptions{.fade = 0.97,
                                     .prior_weight = 1.5,
                                     .optimism = 1.5,
                                     .first_gain = 0.2,
                                     .least_prior = 0.01,
                                     .least_spread = 0.01,
                                     .least_cost = 0.05}) {}
};

/// Where a child should land: success counts per (cell, direction), pooled over cells. A direction that failed several
/// times in a row from a cell is not repeated from there.
class DirectionBandit {
 public:
  void observe(const Cell& from, const Direction& direction, bool success);

  /// `bound` is the profile's verdict on the parent ("memory", "compute" or ""); its dimension gets a head start.
  Direction choose(const Cell& from, const std::string& bound, Rng& rng) const;

 private:
  struct Count {
    double success = 0, failure = 0;
    int failures_in_a_row = 0;
  };
  using Key = std::pair<int, int>;  // dimension, step
  std::map<Key, Count> pooled_;
  std::map<std::pair<Cell, Key>, Count> by_cell_;
};

/// A draw from Beta(a, b), a and b > 0.
double draw_beta(double a, double b, Rng& rng);

std::string direction_text(const Direction& direction);  ///< "memory+1", "compute-1", "memory+0"
std::optional<Direction> direction_from_text(const std::string& text);

}  // namespace kerf
