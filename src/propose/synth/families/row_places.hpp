#pragma once
// Where the nodes of a group are read, as seen from the index space a kernel runs over.
//
// A kernel runs over a domain: one variable per axis of some shape. Every node of the group is read at a place, an
// index that is a function of those variables. A node that is read at one place only can be computed once and handed on
// under a name.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "propose/synth/family.hpp"

namespace kerf::synth {

struct Place {
  static constexpr int kZero = -1;     ///< the axis is always read at 0
  static constexpr int kUnknown = -2;  ///< some function of `depends`
  std::vector<int> axes;               ///< per axis of the node: the domain's variable, kZero or kUnknown
  std::uint64_t depends = 0;           ///< bit per variable
  bool whole = false;                  ///< its row-major number is that of the domain's element
  bool kept = false;                   ///< its row-major number is that of the variables that no reduction runs over

  bool operator==(const Place&) const = default;
};

/// The index space of a group. `reduced` says which axes its reductions run over (all false: an elementwise group).
struct Domain {
  Shape shape;
  std::vector<bool> reduced;

  std::uint64_t reduced_mask() const;
  Shape kept_shape() const;
};

/// Follows a group from its root to its leaves.
class Places {
 public:
  Places(const codegen::BufferPlan& plan, const Domain& domain) : plan_(plan), domain_(domain) {}

  /// `root` read as the domain's element (or, when it has one element per kept index, as that). False when the group
  /// contains something other than maps, views, reshapes, scans of domain-shaped values and reductions over the
  /// domain's reduced axes, or reads a reduction elsewhere than at the kept index.
  bool follow(ir::NodeId root);

  bool known(ir::NodeId node) const { return places_.contains(node); }
  /// The only place the node is read at, or null.
  const Place* only(ir::NodeId node) const;
  /// Union over all places of the node.
  std::uint64_t depends(ir::NodeId node) const;

 private:
  bool renames(ir::NodeId id) const;
  bool visit(ir::NodeId id, Place place);
  bool visit_map(ir::NodeId id, const Place& place);
  bool visit_view(ir::NodeId id, const Place& place);
  bool visit_reduce(ir::NodeId id, const Place& place);
  Place reshaped(const Place& place, const Shape& from, const Shape& to) const;
  void settle(Place& place, const Shape& shape) const;
  const Shape& shape(ir::NodeId id) const { return plan_.graph[id].shape; }

  const codegen::BufferPlan& plan_;
  const Domain& domain_;
  std::map<ir::NodeId, std::vector<Place>> places_;
};

/// Axes of `shape` that are not literally 1.
std::vector<int> true_axes(const Shape& shape);

std::string factor(const std::string& text);  ///< in brackets unless it is safe to multiply

/// Row-major number of `texts` in `shape` as a C expression; extents of 1 are skipped. "0" for a scalar.
std::string linear_text(const Shape& shape, const std::vector<std::string>& texts, HookWriter& hooks);

/// The index along each of `axes` (of `shape`) of the element with the number `number` among them, row-major.
std::vector<std::string> unravel_text(const std::string& number, const Shape& shape, HookWriter& hooks);

}  // namespace kerf::synth
