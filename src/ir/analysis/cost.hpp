#pragma once
// What a task must move and compute at least: the base of the speed-of-light floor.

#include <map>
#include <string>

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace kerf::ir {

struct Cost {
  double bytes_read = 0;     ///< each input element that any output needs, once
  double bytes_written = 0;  ///< each output element, once
  double fma_flops = 0;      ///< multiply-adds of contractions and convolutions, two FLOPs each (products by structural
                             ///< zeros, such as padding, are not counted)
  double other_flops = 0;    ///< elementwise, reduction and scan operations, one each
  double special_ops = 0;    ///< exp, log, tanh, sqrt, division, ...; one each
  /// True when algebra can legitimately avoid some of fma_flops (a linear reduction or pooling after a contraction), so
  /// that only the bytes are a physical floor.
  bool fma_avoidable = false;
};

/// Of a fused implementation of `graph` (simplified first) for one shape set.
Result<Cost> cost(const Graph& graph, const Bindings& bindings);

}  // namespace kerf::ir
