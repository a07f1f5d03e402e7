#pragma once
// One speedup per kernel of a run. A baseline that is timed at two times of a busy machine gives two ratios, so figures
// of different steps contradict what the kernels showed when they were timed in turn; these estimates do not.

#include <cstdint>
#include <vector>

#include "model/step.hpp"

namespace kerf {

/// Not thread-safe. A pure function of the steps in their order.
class SpeedupEstimates {
 public:
  void observe(const Step& step);

  /// While the search goes on: what the step measured, or, where it was timed in turn with an earlier one, that one's
  /// estimate times the ratio. Later steps do not change it. Zeros when the step was not timed, and for the plain
  /// kernel, which is not compared with itself.
  Speedup so_far(std::int64_t step) const;

  /// In hindsight, on the scale of `anchor` (the run's best), whose own measurement stands as it is (the plain kernel
  /// is once as fast as itself): what the step was times as fast as `anchor`, times that. A finalist counts as it did
  /// when it was measured again. As `so_far` where `anchor` was not timed.
  Speedup on_scale_of(std::int64_t anchor, std::int64_t step) const;

 private:
  /// Distances to the ends of a 95 % interval, of a logarithm.
  struct Noise {
    double below = 0, above = 0;
  };
  struct Entry {
    Speedup own;              // as measured; ratio 0: not timed
    bool plain = false;       // the plain kernel: others are shown on its scale, itself it has no figure
    std::int64_t root = 0;    // the step whose measurement its figure starts from: itself, unless it was timed in turn
    double log = 0;           // so far
    Noise chained;            // of the comparisons between it and its root
    std::int64_t again = 0;   // its measurement as a finalist; 0: none
    std::int64_t before = 0;  // of such a measurement, the step that was measured again
  };
  const Entry* timed(std::int64_t step) const;
  double settled_log(const Entry& entry) const;
  static Noise noise_of(const Speedup& speedup);
  static Noise sum(const Noise& a, const Noise& b);

  std::vector<Entry> entries_;
};

}  // namespace kerf
