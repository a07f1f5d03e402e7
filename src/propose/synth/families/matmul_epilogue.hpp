#pragma once
// What lies between the one loop nest of a group (a product, a convolution, a window) and the value the group stores:
// elementwise operators, and changes of layout that keep every element.

#include <optional>
#include <string>
#include <vector>

#include "propose/synth/family.hpp"

namespace kerf::synth {

/// One change of layout on the way from the anchor to the root.
struct LayoutStep {
  bool reshape =
      false;  ///< same row-major order in `shape`; otherwise axis `axes[d]` of the result is axis d of the operand
  std::vector<int> axes;  ///< of a permutation: per axis of the operand, -1 where its extent is 1 and it disappears
  Shape shape;            ///< of the result
};

/// How the elements of `anchor` become those of the group's root. None when some are dropped, repeated or computed from
/// several others, or when two ways from the anchor to the root disagree.
std::optional<std::vector<LayoutStep>> layout_steps(const ir::Graph& graph, const Group& group, ir::NodeId anchor);

/// Where the anchor's element `at` (one text per axis) is found in the root.
codegen::Index index_in_root(const std::vector<LayoutStep>& steps, const Shape& anchor_shape,
                             std::vector<std::string> at, HookWriter& hooks);

/// Whether the root's row-major order is the anchor's.
bool keeps_order(const std::vector<LayoutStep>& steps);

/// Sets Y_FLOATS when the group stores floats in the order of the anchor's elements, the first at Y_PTR, and writes the
/// hook `$finish($args, params..., total)` for their values: templates may then store several at once.
void set_plain_output(TemplateValues& values, const Group& group, const std::vector<LayoutStep>& steps,
                      const std::vector<std::string>& params, const codegen::Index& index, const Bound& total,
                      HookWriter& hooks);

/// The number `flat`, counted over `extents` in row-major order, as one text per axis.
std::vector<std::string> unflatten(const std::string& flat, const Shape& extents, HookWriter& hooks);

/// Sets `name` for headers and code alike.
void set_extent(TemplateValues& values, const std::string& name, const Dim& extent, HookWriter& hooks);
void set_flag(TemplateValues& values, const std::string& name, bool value);

}  // namespace kerf::synth
