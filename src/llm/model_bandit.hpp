#pragma once
// Which model of an ensemble to ask next: improvement per cost, by Thompson sampling.

#include <map>
#include <span>
#include <string>

#include "base/rng.hpp"

namespace kerf::llm {

/// Old observations fade, because what is left to gain changes. Not thread-safe.
class ModelBandit {
 public:
  /// `gain`: logarithm of the speedup over the parent (0 for none, or for a kernel that failed); `cost` in any one
  /// unit.
  void observe(const std::string& model, double gain, double cost);

  /// Draws one of `models` (not empty). One that was never asked is taken to be a little better than the average.
  std::size_t choose(std::span<const std::string> models, Rng& rng) const;

 private:
  struct Arm {
    double weight = 0, gain = 0, squares = 0, cost = 0;  // faded sums
  };
  std::map<std::string, Arm> arms_;
};

}  // namespace kerf::llm
