#pragma once
// Estimates of several shapes as one.

#include <optional>
#include <span>
#include <string>

#include "model/evaluation.hpp"

namespace kerf {

/// A positive quantity of one shape (a time or a ratio) with its interval.
struct WeightedEstimate {
  double weight = 1;
  double centre = 0, low = 0, high = 0;
};
struct CombinedEstimate {
  double centre = 0, low = 0, high = 0;
};

/// Weighted geometric mean with its interval. Shapes are timed one after the other, so their errors are independent:
/// the half widths of the logarithms add in squares, as standard deviations do. (Averaging the ends as they stand
/// supposes that all shapes err to the same side at once; of n equal shapes it claims sqrt(n) times the interval.) None
/// without a positive weight or when a centre is not positive.
std::optional<CombinedEstimate> combine(std::span<const WeightedEstimate> shapes);

/// Over all shapes, against one baseline; none when a shape was not timed with it.
std::optional<Speedup> speedup_over(const Measurement& measurement, const std::string& baseline);

/// Sets `measurement.speedup`: over all shapes, against the strongest baseline present in all of them.
void combine_speedups(Measurement& measurement);

}  // namespace kerf
