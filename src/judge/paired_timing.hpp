#pragma once
// Two kernels timed in turn, in the same rounds on the same data: what else the machine does meets both alike.

#include <optional>

#include "model/candidate.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// A candidate with values of its tunables; borrowed for the call.
struct PairedKernel {
  const Candidate& candidate;
  const Bindings& tunables;
};
/// What came of timing two kernels in turn.
struct PairedOutcome {
  std::optional<Outcome> refused;  ///< set: the first one failed at it
  std::optional<Speedup> speedup;  ///< of the first over the second, all timed shapes; none when either failed
};

}  // namespace kerf
