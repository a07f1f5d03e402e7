#pragma once
// Two kernels timed in turn, in the same rounds on the same data: what else the machine does meets both alike.

#include <optional>
#include <string>
#include <vector>

#include "model/candidate.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// A candidate with values of its tunables; borrowed for the call.
struct PairedKernel {
  const Candidate& candidate;
  const Bindings& tunables;
};
/// One timed shape of two kernels: how many times as fast the first is.
struct PairedShape {
  std::string shape;
  double weight = 1;
  Speedup speedup;
};
/// What came of timing two kernels in turn.
struct PairedOutcome {
  std::optional<Outcome> refused;     ///< set: the first one failed at it
  std::optional<Speedup> speedup;     ///< of the first over the second, all timed shapes; none when either failed
  std::vector<PairedShape> shapes{};  ///< the same per timed shape
};

}  // namespace kerf
