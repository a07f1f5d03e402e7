#pragma once
// A kernel family: recognises groups of nodes it can compute and fills in its templates for them.
// docs/adding-a-kernel-family.md walks through one.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/template.hpp"
#include "codegen/buffer_plan.hpp"
#include "device/device.hpp"
#include "model/task.hpp"
#include "propose/synth/hooks.hpp"

namespace kerf::synth {

/// One group: `root` is stored, `members` are computed inside (root included), everything else they use is loaded from
/// buffers or is a constant. In dependency order.
struct Group {
  ir::NodeId root = 0;
  int buffer = 0;  ///< where the root is stored
  std::vector<ir::NodeId> members;
  std::vector<ir::NodeId>
      anchors;  ///< members that are reduce, scan, contract, conv, pool, adaptive pool or concat nodes
  std::vector<ir::NodeId> leaves;  ///< loaded nodes, each once
  bool copy = false;               ///< nothing is computed: `root` lies in another buffer and is copied (and converted)
};

/// What is known beyond the graph.
struct TargetContext {
  std::string target;  ///< for the header's `target:` line only; families ask the dialect and the facts
  Precision precision = Precision::f32;
  std::vector<ShapeSet> shapes;  ///< of this target
  DeviceFacts facts;
  std::map<std::string, double> rates;  ///< measured peaks of the device, FLOP/s by unit; empty: typical ones
};

/// Values for a template: `$NAME` becomes the text. Names in capitals are extents and flags ("1"/"0"); "$name" in lower
/// case is reserved for kernels, hooks and scratch buffers, which get the group's prefix.
struct TemplateValues {
  std::map<std::string, std::string> text;
  std::map<std::string, templates::Value> lists;  ///< for `%for`: what a family's loops run over
  /// Extents for `scratch`, `launches` and `requirements`, as text that parse_dim reads ("rows", "2*cols"); also usable
  /// as values in code. Same names as in `text` are allowed: headers take these, code takes those.
  std::map<std::string, std::string> extents;
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;  ///< its folder under kernels/; stored in genomes, never renamed
  /// Whether a group of this structure can be computed; cheap, looks at the graph only.
  virtual bool fits(const codegen::BufferPlan& plan, const Group& group) const = 0;
  /// Writes the hooks and values of a group that fits.
  virtual Result<TemplateValues> fill(const Group& group, const TargetContext& context, HookWriter& hooks) const = 0;
};

/// All families, most specific first; the last one ("direct") fits every group with at most one anchor, at its root.
const std::vector<const Family*>& all_families();

}  // namespace kerf::synth
