#pragma once
// Products in the shape that suits a device. Internal to algebra.cpp.

#include <optional>

#include "ir/graph.hpp"

namespace kerf::ir::algebra {

/// - A convolution with taps of one element, stride 1 and no padding becomes a contraction over its channels.
/// - A contraction with one row or one column becomes a sum of products along the matrix: nothing is used twice, so
///   that it is a reduction.
/// - A contraction with few results and long sums is cut along a summed axis into pieces that are added afterwards, so
///   that there is work for `tiles` groups of threads on the shape `real`; 0: never.
/// The same products, summed in another order. Nothing where that changes nothing.
std::optional<Graph> products_reshaped(const Graph& graph, std::int64_t tiles, const Bindings& real);

}  // namespace kerf::ir::algebra
