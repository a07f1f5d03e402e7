#pragma once
// How much faster the kernels of a run are than what they were made from.

#include <cstdint>
#include <map>
#include <optional>

#include "model/step.hpp"

namespace kerf::agents {

/// Takes steps in order. Not thread-safe.
class Gains {
 public:
  /// Natural logarithm of the step's speedup over its first parent's (over the baseline where that was not measured),
  /// at least 0; 0 for a kernel that was refused or known. None for steps that no mind was asked for.
  std::optional<double> observe(const Step& step);

 private:
  std::map<std::int64_t, double> speedups_;  // logarithms, by step
};

}  // namespace kerf::agents
