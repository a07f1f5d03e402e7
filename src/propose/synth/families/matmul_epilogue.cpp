#include "propose/synth/families/matmul_epilogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kerf::synth {
namespace {

using ir::attr;
using ir::is;
using ir::Node;
using ir::NodeId;

bool same(const LayoutStep& a, const LayoutStep& b) {
  return a.reshape == b.reshape && a.axes == b.axes && a.shape == b.shape;
}

/// The permutation that a view is, if it is one.
std::optional<LayoutStep> permutation(const Node& node, const Shape& source) {
  const auto& view = attr<ir::ViewAttr>(node);
  LayoutStep step{false, std::vector<int>(source.size(), -1), node.shape};
  std::vector<bool> used(node.shape.size(), false);
  for (std::size_t d = 0; d < source.size(); ++d) {
    const auto& map = view.axes[d];
    const bool plain = map.offset == Dim(0) && !map.modulo;
    if (plain && map.terms.empty() && source[d].is_one()) continue;
    if (!plain || map.terms.size() != 1 || map.terms[0].stride != 1) return {};
    const auto axis = static_cast<std::size_t>(map.terms[0].axis);
    if (used[axis] || !(node.shape[axis] == source[d])) return {};
    used[axis] = true;
    step.axes[d] = map.terms[0].axis;
  }
  for (std::size_t d = 0; d < used.size(); ++d)
    if (!used[d] && !node.shape[d].is_one()) return {};
  return step;
}

std::string linear(const std::vector<std::string>& at, const Shape& shape, HookWriter& hooks) {
  std::string text;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].is_one()) continue;
    text = text.empty() ? fmt::format("({})", at[d])
                        : fmt::format("({} * {} + ({}))", text, hooks.extent(shape[d]), at[d]);
  }
  return text.empty() ? "0" : text;
}

}  // namespace

std::optional<std::vector<LayoutStep>> layout_steps(const ir::Graph& graph, const Group& group, NodeId anchor) {
  std::map<NodeId, std::vector<LayoutStep>> known;
  known[anchor] = {};
  for (const NodeId id : group.members) {
    const Node& node = graph[id];
    if (id == anchor) continue;
    std::optional<std::vector<LayoutStep>> steps;
    for (const NodeId arg : node.args) {
      const auto from = known.find(arg);
      if (from == known.end()) continue;
      if (steps && !std::equal(steps->begin(), steps->end(), from->second.begin(), from->second.end(), same)) return {};
      steps = from->second;
      if (is<ir::MapAttr>(node)) {
        if (!(graph[arg].shape == node.shape)) return {};
      } else if (is<ir::ReshapeAttr>(node)) {
        steps->push_back({true, {}, node.shape});
      } else if (is<ir::ViewAttr>(node)) {
        const auto step = permutation(node, graph[arg].shape);
        if (!step) return {};
        steps->push_back(*step);
      } else {
        return {};
      }
    }
    if (steps) known[id] = std::move(*steps);
  }
  const auto root = known.find(group.root);
  if (root == known.end()) return {};
  return root->second;
}

codegen::Index index_in_root(const std::vector<LayoutStep>& steps, const Shape& anchor_shape,
                             std::vector<std::string> at, HookWriter& hooks) {
  Shape shape = anchor_shape;
  std::optional<std::string> flat;
  for (const LayoutStep& step : steps) {
    if (step.reshape) {
      if (!flat) flat = linear(at, shape, hooks);
    } else {
      if (flat) at = unflatten(*flat, shape, hooks);
      flat.reset();
      std::vector<std::string> next(step.shape.size(), "0");
      for (std::size_t d = 0; d < step.axes.size(); ++d)
        if (step.axes[d] >= 0) next[static_cast<std::size_t>(step.axes[d])] = at[d];
      at = std::move(next);
    }
    shape = step.shape;
  }
  return flat ? codegen::Index::of_linear(*flat) : codegen::Index::of_axes(std::move(at));
}

bool keeps_order(const std::vector<LayoutStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const LayoutStep& step) {
    if (step.reshape) return true;
    int last = -1;  // axes of extent 1 may come and go, the others stay in order
    for (std::size_t d = 0; d < step.axes.size(); ++d) {
      if (step.axes[d] < 0 || step.shape[static_cast<std::size_t>(step.axes[d])].is_one()) continue;
      if (step.axes[d] < last) return false;
      last = step.axes[d];
    }
    return true;
  });
}

void set_plain_output(TemplateValues& values, const Group& group, const std::vector<LayoutStep>& steps,
                      const std::vector<std::string>& params, const codegen::Index& index, const Bound& total,
                      HookWriter& hooks) {
  const codegen::Buffer& out = hooks.plan().buffers[static_cast<std::size_t>(group.buffer)];
  const bool floats = out.dtype == DType::f32 && hooks.type_name(group.root) == "float";
  set_flag(values, "Y_FLOATS", floats && keeps_order(steps));
  values.text["Y_PTR"] = out.parameter;
  hooks.value("finish", group.root, params, index, {total});
}

std::vector<std::string> unflatten(const std::string& flat, const Shape& extents, HookWriter& hooks) {
  std::vector<std::string> at(extents.size(), "0");
  std::size_t first = 0;
  while (first < extents.size() && extents[first].is_one()) ++first;
  Dim below = 1;
  for (std::size_t d = extents.size(); d-- > first;) {
    if (extents[d].is_one()) continue;
    std::string text = flat;
    if (!below.is_one()) text = fmt::format("({} / {})", text, hooks.extent(below));
    if (d != first) text = fmt::format("({} % {})", text, hooks.extent(extents[d]));
    at[d] = text;
    below = below * extents[d];
  }
  return at;
}

void set_extent(TemplateValues& values, const std::string& name, const Dim& extent, HookWriter& hooks) {
  values.text[name] = hooks.extent(extent);
  values.extents[name] = "(" + extent.to_string() + ")";
}

void set_flag(TemplateValues& values, const std::string& name, bool value) { values.text[name] = value ? "1" : "0"; }

}  // namespace kerf::synth
