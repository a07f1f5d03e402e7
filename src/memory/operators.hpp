#pragma once
// Words for what a graph computes, which tasks are compared by.

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace kerf::memory {

/// "map.exp", "reduce.sum", "contract", "conv"; stored, so never renamed. Inputs and constants have "input" and
/// "constant".
std::string operator_word(const ir::Node& node);

/// Equal for graphs whose nodes, in their order, apply the same operators to the same nodes, whatever their extents and
/// types: node numbers mean the same in both.
std::string structure_key(const ir::Graph& graph);

/// The kind of operator that costs most: "conv", "contract", "scan", "pool", "top", "reduce", "gather" or "map".
std::string operator_family(const ir::Graph& graph);

/// Of two lists with repeats, sorted: what they share over what either has, in [0, 1]; 1 for two empty lists.
double overlap(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace kerf::memory
