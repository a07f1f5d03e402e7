#pragma once
// Folding of constants, for simplify().

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace kerf::ir {

/// The value of `op` on scalars of `argument` dtype (select: of its last two), where it is exactly known: in double
/// precision for floats, below 2^53 (i32: within range) for integers.
std::optional<double> fold_map(MapOp op, const std::vector<double>& values, DType argument, DType result);

/// A constant when `node` (whose arguments refer to `graph`) is a scalar map of constants; otherwise `node` itself.
Node fold_constants(Node node, const Graph& graph);

}  // namespace kerf::ir
