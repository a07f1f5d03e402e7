#pragma once
// Checks that the parts of the builder share with the front-end. `what` begins the message of an error.

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/builder.hpp"

namespace kerf::ir {

/// The shape that both broadcast to, as in NumPy.
Result<Shape> broadcast_shapes(const Builder& builder, const Shape& a, const Shape& b, std::string_view what);

/// `axis` counted from the front; negative ones count from the end.
Result<int> normal_axis(int axis, std::size_t rank, std::string_view what);
/// Sorted, distinct, non-negative.
Result<std::vector<int>> normal_axes(std::vector<int> axes, std::size_t rank, std::string_view what);

/// An error when `extent` is known, or known under one of the shape sets, to be less than `least`.
Status require_at_least(const Builder& builder, const Dim& extent, std::int64_t least, std::string_view what);

}  // namespace kerf::ir
