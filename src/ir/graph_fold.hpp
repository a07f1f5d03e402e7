#pragma once
// Folding of constants, for simplify().

#include "ir/graph.hpp"

namespace kerf::ir {

/// A constant when `node` (whose arguments refer to `graph`) is a scalar map of constants whose value is exactly known:
/// in double precision for floats, below 2^53 (i32: within range) for integers. Otherwise `node` itself.
Node fold_constants(Node node, const Graph& graph);

}  // namespace kerf::ir
