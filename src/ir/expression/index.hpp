#pragma once
// Slicing, as x[1:-1, ::2, None, ..., 0] does it.

#include <optional>
#include <vector>

#include "ir/expression/ops.hpp"

namespace kerf::ir {

/// One item of an index. Bounds may be symbolic; a constant negative bound counts from the end.
struct IndexItem {
  enum class Kind { slice, position, new_axis, ellipsis } kind = Kind::slice;
  std::optional<Dim> start, stop;  ///< start is the position when kind is `position`
  std::int64_t step = 1;           ///< non-zero
};

/// One view node. Slices are clamped to the axis as in Python; a position outside is an error where that is known.
T index(T x, const std::vector<IndexItem>& items);

/// x[..., start:start+length, ...] along `axis`.
T narrow(T x, int axis, const Dim& start, const Dim& length);

}  // namespace kerf::ir
