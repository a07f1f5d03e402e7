#pragma once
// Which elements of a node are needed, as a box of index sets. Internal to cost*.cpp.
//
// Everything here errs on the low side: what cannot be expressed as a box counts as less, never as more, because the
// result is a floor that no honest kernel may be faster than.

#include <cstdint>
#include <vector>

#include "ir/graph.hpp"

namespace kerf::ir::cost_detail {

using Extents = std::vector<std::int64_t>;

/// A set of indices of one axis.
class AxisSet {
 public:
  explicit AxisSet(std::int64_t extent = 0) : extent_(extent), count_(extent) {}  ///< all of them
  static AxisSet none(std::int64_t extent);

  std::int64_t extent() const { return extent_; }
  std::int64_t count() const { return count_; }
  bool full() const { return count_ == extent_; }
  bool contains(std::int64_t index) const {
    return full() || (!members_.empty() && members_[static_cast<std::size_t>(index)] != 0);
  }
  void insert(std::int64_t index);
  void unite(const AxisSet& other);
  bool operator==(const AxisSet& other) const;

 private:
  std::int64_t extent_;
  std::int64_t count_;
  std::vector<char> members_;  // empty when full or when nothing was inserted yet
};

/// The product of one set per axis, of which at least the share `density` is needed.
struct Demand {
  bool any = false;
  std::vector<AxisSet> axes;
  double density = 1;
  int mask = -1;  ///< which mask thinned it out; -1: none, several, or moved since

  double count() const;  ///< elements, at least
};

Demand full_demand(const Extents& extents);

/// `into` or `other`: exact when they differ along one axis only, else the larger one.
void unite(Demand& into, const Demand& other);

/// What argument number `which` of `node` must deliver when `out` is needed of the node itself.
Demand argument_demand(const Node& node, std::size_t which, const Demand& out, const std::vector<Extents>& arguments,
                       const Extents& own, const Bindings& bindings);

/// Pairs (output position, kernel tap) along one spatial axis that meet an input element. `inputs` and `taps`, when
/// given, collect the input positions and taps that occur in one.
struct WindowAxis {
  std::int64_t input = 0, kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool transposed = false;
};
std::int64_t window_pairs(const WindowAxis& axis, const AxisSet& outputs, AxisSet* inputs, AxisSet* taps);

/// Groups of a convolution, from its extents.
std::int64_t conv_groups(const ConvAttr& conv, const Extents& x, const Extents& w, std::int64_t out_channels);
WindowAxis conv_axis(const ConvAttr& conv, std::size_t d, const Extents& x, const Extents& w);

}  // namespace kerf::ir::cost_detail
