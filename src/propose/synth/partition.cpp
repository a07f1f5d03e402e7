#include "propose/synth/partition.hpp"

#include <algorithm>

namespace kerf::synth {
namespace {

using codegen::BufferPlan;
using ir::NodeId;

constexpr std::size_t kMostTakenIn = 24;  // loops that a group takes in: bounds the time for whole networks

Group make_group(const BufferPlan& plan, const codegen::KernelPlan& kernel) {
  Group group;
  group.root = kernel.node;
  group.buffer = kernel.buffer;
  group.copy = kernel.copy;
  if (kernel.copy) {
    group.leaves.push_back(kernel.node);
    return group;
  }
  std::set<NodeId> members{kernel.node}, leaves;
  std::vector<NodeId> open{kernel.node};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const NodeId arg : plan.graph[id].args) {
      if (plan.location[static_cast<std::size_t>(arg)] >= 0) {
        leaves.insert(arg);
      } else if (members.insert(arg).second) {
        open.push_back(arg);
      }
    }
  }
  group.members.assign(members.begin(), members.end());
  group.leaves.assign(leaves.begin(), leaves.end());
  for (const NodeId id : group.members)
    if (codegen::is_anchor(plan.graph[id])) group.anchors.push_back(id);
  return group;
}

std::vector<std::vector<NodeId>> consumers_of(const ir::Graph& graph) {
  std::vector<std::vector<NodeId>> consumers(graph.nodes.size());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    for (const NodeId arg : graph.nodes[id].args)
      consumers[static_cast<std::size_t>(arg)].push_back(static_cast<NodeId>(id));
  return consumers;
}

/// Per node whether `root` is computed from it; the root itself counts.
std::vector<bool> needed_by(const ir::Graph& graph, NodeId root) {
  std::vector<bool> needed(graph.nodes.size(), false);
  needed[static_cast<std::size_t>(root)] = true;
  for (auto id = static_cast<std::size_t>(root) + 1; id-- > 0;)
    if (needed[id])
      for (const NodeId arg : graph.nodes[id].args) needed[static_cast<std::size_t>(arg)] = true;
  return needed;
}

const Group* group_of(const Partition& partition, NodeId root) {
  for (const Group& group : partition.groups)
    if (group.root == root && !group.copy) return &group;
  return nullptr;
}

/// Whether everything in the group but its root is used by the group alone.
bool self_contained(const Group& group, const std::vector<std::vector<NodeId>>& consumers,
                    const std::set<NodeId>& absorbed) {
  return std::all_of(absorbed.begin(), absorbed.end(), [&](NodeId id) {
    const auto& users = consumers[static_cast<std::size_t>(id)];
    return std::all_of(users.begin(), users.end(), [&](NodeId user) {
      return std::binary_search(group.members.begin(), group.members.end(), user);
    });
  });
}

}  // namespace

Result<Partition> make_partition(const ir::Graph& graph, const Roots& roots, const codegen::NaiveOptions& options) {
  std::vector<bool> stored(graph.nodes.size(), false);
  for (const NodeId root : roots) stored[static_cast<std::size_t>(root)] = true;
  for (const auto& output : graph.outputs) stored[static_cast<std::size_t>(output.node)] = true;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)  // these are cheaper to make than to load
    if (ir::is<ir::InputAttr>(graph.nodes[id])) stored[id] = false;
  Partition partition;
  KERF_TRY(partition.plan, codegen::make_buffer_plan(graph, stored, options));
  for (const auto& kernel : partition.plan.kernels) partition.groups.push_back(make_group(partition.plan, kernel));
  return partition;
}

Roots least_fused(const ir::Graph& graph) {
  const std::vector<bool> stored = codegen::stored_by_default(graph);
  Roots roots;
  for (std::size_t id = 0; id < stored.size(); ++id)
    if (stored[id]) roots.insert(static_cast<NodeId>(id));
  return roots;
}

std::vector<Roots> fusion_steps(const ir::Graph& graph, Roots roots, const codegen::NaiveOptions& options,
                                const FitsGroup& fits, const Roots& pinned) {
  std::vector<Roots> steps{roots};
  const auto consumers = consumers_of(graph);
  std::set<NodeId> outputs;
  for (const auto& output : graph.outputs) outputs.insert(output.node);
  std::vector<NodeId> order(roots.begin(), roots.end());
  for (const NodeId output : outputs) order.push_back(output);
  std::sort(order.rbegin(), order.rend());  // consumers first
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (const NodeId root : order) {
    if (!roots.contains(root) && !outputs.contains(root)) continue;  // taken in already
    // Candidates: stored ancestors, nearest first. The longest run of them that some family takes wins.
    std::vector<NodeId> near;
    const std::vector<bool> below = needed_by(graph, root);
    for (auto id = roots.rbegin(); id != roots.rend() && near.size() < kMostTakenIn; ++id) {
      if (*id >= root || outputs.contains(*id) || pinned.contains(*id)) continue;
      // What the root does not need, or something else needs too, ends every run that reaches it.
      const auto& users = consumers[static_cast<std::size_t>(*id)];
      if (!below[static_cast<std::size_t>(*id)] ||
          !std::all_of(users.begin(), users.end(), [&](NodeId user) { return below[static_cast<std::size_t>(user)]; }))
        break;
      near.push_back(*id);
    }
    for (std::size_t count = near.size(); count > 0; --count) {
      Roots fewer = roots;
      const std::set<NodeId> absorbed(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count));
      for (const NodeId id : absorbed) fewer.erase(id);
      const auto partition = make_partition(graph, fewer, options);
      if (!partition) continue;
      const Group* group = group_of(*partition, root);
      if (group == nullptr) continue;
      const bool all_inside = std::all_of(absorbed.begin(), absorbed.end(), [&](NodeId id) {
        return std::binary_search(group->members.begin(), group->members.end(), id);
      });
      if (!all_inside || !self_contained(*group, consumers, absorbed) || !fits(partition->plan, *group)) continue;
      roots = std::move(fewer);
      steps.push_back(roots);
      break;
    }
  }
  return steps;
}

std::vector<NodeId> taken_in(const Partition& partition) {
  const ir::Graph& graph = partition.plan.graph;
  std::vector<NodeId> found;
  for (const Group& group : partition.groups)
    for (const NodeId anchor : group.anchors)
      for (NodeId id : graph[anchor].args) {
        while (ir::is<ir::ViewAttr>(graph[id]) || ir::is<ir::ReshapeAttr>(graph[id])) id = graph[id].args[0];
        const bool inside = std::binary_search(group.members.begin(), group.members.end(), id);
        if (inside && ir::is<ir::MapAttr>(graph[id]) && std::find(found.begin(), found.end(), id) == found.end())
          found.push_back(id);
      }
  return found;
}

}  // namespace kerf::synth
