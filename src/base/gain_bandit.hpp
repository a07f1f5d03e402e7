#pragma once
// Which of several arms to try next: gain per unit of cost, by Thompson sampling.

#include <map>
#include <span>
#include <string>

#include "base/rng.hpp"

namespace kerf {

struct GainBanditOptions {
  double fade = 0.98;         ///< what is left of an observation after each later one
  double prior_weight = 1;    ///< observations the prior is worth
  double optimism = 1.3;      ///< the prior's gain, times the average
  double first_gain = 0;      ///< the average while nothing is known
  double least_prior = 0.05;  ///< of the prior's gain
  double least_spread = 0.05;
  double least_cost = 0.02;  ///< an arm's cost counts at least so much of the average
};

/// Old observations fade, because what is left to gain changes. Not thread-safe.
class GainBandit {
 public:
  explicit GainBandit(const GainBanditOptions& options) : options_(options) {}

  /// `gain`: logarithm of the speedup over the parent (0 for none, or for a kernel that failed); `cost` in any one
  /// unit.
  void observe(const std::string& arm, double gain, double cost);

  /// Draws one of `arms` (not empty). One that was never tried is taken to be a little better than the average.
  std::size_t choose(std::span<const std::string> arms, Rng& rng) const;

 private:
  struct Arm {
    double weight = 0, gain = 0, squares = 0, cost = 0;  // faded sums
  };
  GainBanditOptions options_;
  std::map<std::string, Arm> arms_;
};

}  // namespace kerf
