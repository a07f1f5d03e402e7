#include "propose/synth/group_view.hpp"

#include <algorithm>

namespace kerf::synth {
namespace {

using codegen::BufferPlan;
using ir::NodeId;

/// Members and leaves in the graph's order.
std::vector<NodeId> nodes_of(const Group& group) {
  std::vector<NodeId> nodes;
  nodes.reserve(group.members.size() + group.leaves.size());
  std::merge(group.members.begin(), group.members.end(), group.leaves.begin(), group.leaves.end(),
             std::back_inserter(nodes));
  return nodes;
}

NodeId number_in(const std::vector<NodeId>& nodes, NodeId id) {
  return static_cast<NodeId>(std::lower_bound(nodes.begin(), nodes.end(), id) - nodes.begin());
}

bool is_leaf_of(const Group& group, NodeId id) {
  return std::binary_search(group.leaves.begin(), group.leaves.end(), id);
}

const codegen::Buffer& buffer_of(const BufferPlan& plan, NodeId leaf) {
  return plan.buffers[static_cast<std::size_t>(plan.location[static_cast<std::size_t>(leaf)])];
}

}  // namespace

GroupView cut_out(const BufferPlan& plan, const Group& group) {
  const std::vector<NodeId> nodes = nodes_of(group);
  GroupView view;
  ir::Graph graph;
  graph.nodes.reserve(nodes.size());
  std::map<int, int> moved;  // buffer -> buffer of the view
  const auto add_buffer = [&](int buffer) {
    const auto [place, fresh] = moved.try_emplace(buffer, static_cast<int>(view.plan.buffers.size()));
    if (fresh) {
      view.plan.buffers.push_back(plan.buffers[static_cast<std::size_t>(buffer)]);
      view.buffers.push_back(buffer);
    }
    return place->second;
  };
  for (const NodeId id : nodes) {
    const auto number = static_cast<NodeId>(graph.nodes.size());
    if (is_leaf_of(group, id)) {
      const ir::Node& leaf = plan.graph[id];
      const codegen::Buffer& from = buffer_of(plan, id);
      graph.nodes.push_back({ir::InputAttr{from.name}, leaf.dtype, leaf.shape, {}, leaf.origin});
      graph.inputs.push_back({from.name, number});
      view.plan.location.push_back(add_buffer(plan.location[static_cast<std::size_t>(id)]));
      continue;
    }
    ir::Node node = plan.graph[id];
    for (NodeId& arg : node.args) arg = number_in(nodes, arg);
    graph.nodes.push_back(std::move(node));
    view.plan.location.push_back(-1);
  }
  view.group.root = number_in(nodes, group.root);
  view.group.buffer = add_buffer(group.buffer);
  view.group.copy = group.copy;
  for (const auto& [from, to] :
       {std::pair{&group.members, &view.group.members}, std::pair{&group.anchors, &view.group.anchors},
        std::pair{&group.leaves, &view.group.leaves}})
    for (const NodeId id : *from) to->push_back(number_in(nodes, id));
  graph.outputs.push_back({view.plan.buffers[static_cast<std::size_t>(view.group.buffer)].name, view.group.root});
  view.plan.graph = codegen::SharedGraph(std::move(graph));
  view.plan.symbols = plan.symbols;
  view.plan.names = plan.names;
  return view;
}

int Structures::word(const std::string& text) {
  return known_.try_emplace(text, static_cast<int>(known_.size())).first->second;
}

Structures::Words Structures::words_of(const ir::Graph& graph) {
  Words words;
  for (const ir::Node& node : graph.nodes) {
    ir::Node alone = node;
    alone.args.clear();
    words.computed.push_back(word(ir::structural_key(alone)));
    alone.attr = ir::InputAttr{};
    words.loaded.push_back(word(ir::structural_key(alone)));
  }
  return words;
}

StructureKey structure_of(const BufferPlan& plan, const Group& group, const Structures::Words& words) {
  constexpr int kLoaded = -1;  // no word is negative
  const std::vector<NodeId> nodes = nodes_of(group);
  StructureKey key{group.copy ? 1 : 0, number_in(nodes, group.root),
                   static_cast<int>(plan.buffers[static_cast<std::size_t>(group.buffer)].dtype)};
  for (const NodeId id : nodes) {
    const auto at = static_cast<std::size_t>(id);
    if (is_leaf_of(group, id)) {
      key.insert(key.end(), {kLoaded, words.loaded[at], static_cast<int>(buffer_of(plan, id).dtype)});
      continue;
    }
    const auto& args = plan.graph[id].args;
    key.insert(key.end(), {words.computed[at], static_cast<int>(args.size())});
    for (const NodeId arg : args) key.push_back(number_in(nodes, arg));
  }
  return key;
}

}  // namespace kerf::synth
