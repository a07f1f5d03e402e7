#pragma once
// Where one node's elements lie while another node's elements are walked in row-major order.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace kerf::ir::eval {

using Extents = std::vector<std::int64_t>;

std::int64_t element_count(const Extents& extents);
/// Row-major strides in elements.
Extents row_major_strides(const Extents& extents);

/// A ViewAttr with its symbols replaced by numbers.
struct ConcreteView {
  struct Axis {
    std::int64_t offset = 0;
    std::vector<ViewAttr::Term> terms;
    std::int64_t modulo = 0;  ///< 0: none
  };
  std::vector<Axis> axes;  ///< one per axis of the argument
  std::optional<double> fill;

  /// No modulo and no fill: the position is an affine function of the output index.
  bool is_affine() const;
};
Result<ConcreteView> concrete(const ViewAttr& view, const Bindings& bindings);

/// index = offset + sum(coefficients[a] * i_a) over the iteration axes a.
struct AffineAxis {
  std::int64_t offset = 0;
  std::vector<std::int64_t> coefficients;
};

/// From the iteration space of a region to the index space of a node. With `identity`, position p of the iteration is
/// position p of the node, both row-major, and `iteration` equals the node's extents.
struct IndexMap {
  Extents iteration;
  std::vector<AffineAxis> axes;  ///< one per axis of the node
  bool identity = false;
};
IndexMap identity_map(const Extents& extents);

/// The map of an argument that broadcasts (NumPy rules) into a node of extents `out` reached through `map`.
IndexMap broadcast_map(const IndexMap& map, const Extents& out, const Extents& argument);
/// The map of the argument of `view` when the view is reached through `map`; modulo and fill are left to the caller.
IndexMap view_map(const IndexMap& map, const ConcreteView& view, const Extents& argument);

/// A linear position as base + sum(stride * i) over a row-major walk of `extents`; adjacent axes that step together are
/// merged and extents of 1 dropped, so a contiguous range has at most one axis.
struct Walk {
  std::int64_t base = 0;
  Extents extents;
  Extents strides;

  bool is_uniform() const;     ///< the same element everywhere
  bool is_contiguous() const;  ///< base, base + 1, base + 2, ...
};
Walk linear_walk(const IndexMap& map, const Extents& node);
Walk merged_walk(std::int64_t base, const Extents& extents, const Extents& strides);

}  // namespace kerf::ir::eval
