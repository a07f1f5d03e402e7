#pragma once
// Elementwise work moved inside of concatenations. Internal to algebra.cpp.

#include <optional>

#include "ir/graph.hpp"

namespace kerf::ir::algebra {

/// f(concat(a, b), x) becomes concat(f(a, x[:n]), f(b, x[n:])), as far towards the outputs as elementwise operators go:
/// every element is computed by the same operators, but no longer has to find out which piece it belongs to. Nothing
/// when a concatenation remains that is more than an output.
std::optional<Graph> joined_last(const Graph& graph);

}  // namespace kerf::ir::algebra
