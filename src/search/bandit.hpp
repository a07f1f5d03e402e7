#pragma once
// Which operation and which direction to try next: Thompson sampling on what earlier steps gained.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/archive.hpp"
#include "base/rng.hpp"
#include "propose/proposer.hpp"

namespace kerf {

/// Shares the budget between arms (proposer and operation) by gain per unit of cost. Old observations fade, because an
/// operation that was good early (a new family) may be spent later.
class OperationBandit {
 public:
  /// `gain`: logarithm of the speedup over the parent, 0 for none; `cost` in seconds.
  void observe(const std::string& arm, double gain, double cost);

  /// Draws one of `arms` (not empty); arms that were never tried are taken to be a little better than the average.
  std::size_t choose(std::span<const std::string> arms, Rng& rng) const;

 private:
  struct Arm {
    double weight = 0, gain = 0, cost = 0, squares = 0;  // faded sums
  };
  std::map<std::string, Arm> arms_;
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
