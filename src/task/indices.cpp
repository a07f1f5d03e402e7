#include <fmt/format.h>

#include "task/reader.hpp"

namespace kerf::task {
namespace {

/// The input whose elements are the node's, moved but not changed; -1 when there is none.
int input_behind(const Task& task, ir::NodeId id) {
  const ir::Graph& graph = *task.graph;
  while (true) {
    const ir::Node& node = graph[id];
    if (ir::is<ir::InputAttr>(node)) break;
    const bool moved = ir::is<ir::ReshapeAttr>(node) ||
                       (ir::is<ir::ViewAttr>(node) && !ir::attr<ir::ViewAttr>(node).fill) ||
                       (ir::is<ir::MapAttr>(node) && ir::attr<ir::MapAttr>(node).op == ir::MapOp::cast);
    if (!moved) return -1;
    id = node.args[0];
  }
  for (std::size_t i = 0; i < task.inputs.size(); ++i)
    if (task.inputs[i].name == ir::attr<ir::InputAttr>(graph[id]).name) return static_cast<int>(i);
  return -1;
}

}  // namespace

Status check_indices(const Source& source, const Task& task, const Table& root) {
  if (!task.graph) return {};
  for (const ir::Node& node : task.graph->nodes) {
    if (!ir::is<ir::GatherAttr>(node)) continue;
    const int input = input_behind(task, node.args[1]);
    if (input < 0 || !task.distributions[static_cast<std::size_t>(input)]) continue;
    const InputDistribution& given = *task.distributions[static_cast<std::size_t>(input)];
    const std::string& name = task.inputs[static_cast<std::size_t>(input)].name;
    const Dim& extent =
        (*task.graph)[node.args[0]].shape[static_cast<std::size_t>(ir::attr<ir::GatherAttr>(node).axis)];
    for (const ShapeSet& set : task.shapes) {
      KERF_TRY(const std::int64_t size, extent.evaluate(set.symbols));
      double highest = given.kind == InputDistribution::Kind::constant ? given.a : given.b;
      if (given.b_is_dim) {
        KERF_TRY(const std::int64_t value, given.b_dim.evaluate(set.symbols));
        highest = static_cast<double>(value);
      }
      if (given.a >= 0 && highest < static_cast<double>(size)) continue;
      return source.error(
          entry_place(root, "distributions", name),
          fmt::format("input '{0}' indexes an axis of extent {1}, which is {2} in shape set '{3}', but its "
                      "distribution reaches from {4} to {5}; write {0} = \"integers(0, {6})\"",
                      name, extent.to_string(), size, set.name, given.a, highest, (extent - Dim(1)).to_string()));
    }
  }
  return {};
}

}  // namespace kerf::task
