#pragma once
// What computing a graph node by node takes, as the interpreter does it: nothing is fused or left out.

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace kerf::ir {

/// Operations: one for every element of every node, of sums and products one for every term. Unlike `cost` this counts
/// what no output needs, too.
Result<double> whole_work(const Graph& graph, const Bindings& bindings);

}  // namespace kerf::ir
