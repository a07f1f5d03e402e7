#pragma once
// Order statistics and intervals for timings.

#include <span>
#include <vector>

#include "base/rng.hpp"

namespace kerf {

/// Median of a non-empty sample; mean of the middle two for even sizes.
double median(std::vector<double> sample);

/// Linear-interpolated quantile of a non-empty sample, q in [0, 1].
double quantile(std::vector<double> sample, double q);

double geometric_mean(std::span<const double> positive);

struct Interval {
  double low = 0;
  double high = 0;
};

/// Distribution-free confidence interval of the median (binomial order statistics) at `confidence`.
/// For samples too small to reach the confidence it is the whole range.
Interval median_interval(std::vector<double> sample, double confidence = 0.95);

/// Percentile bootstrap interval of the median of paired ratios a[i] / b[i].
Interval ratio_interval(std::span<const double> a, std::span<const double> b, Rng rng, double confidence = 0.95,
                        int resamples = 1000);

}  // namespace kerf
