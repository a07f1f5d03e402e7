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

/// Which nodes a root is computed from; the root itself counts. Looks at no more of the graph than it is asked about.
class NeededBy {
 public:
  NeededBy(const ir::Graph& graph, NodeId root) : graph_(graph), root_(root), seen_from_(root) { found_.insert(root); }

  bool operator()(NodeId id) {
    if (id > root_) return false;
    for (; seen_from_ > id; --seen_from_)
      if (found_.contains(seen_from_)) found_.insert(graph_[seen_from_].args.begin(), graph_[seen_from_].args.end());
    return found_.contains(id);
  }

 private:
  const ir::Graph& graph_;
  NodeId root_, seen_from_;  // arguments of what is needed and above seen_from_ are in found_
  std::set<NodeId> found_;
};

/// A plan in which every stored node has the buffer of its own number: storing one more, or one less, is a change of
/// its location. There are no kernels.
Result<BufferPlan> sketch(const codegen::SharedGraph& graph, const Roots& roots, const codegen::NaiveOptions& options) {
  KERF_TRY(Partition partition, make_partition(graph, roots, options));
  const std::size_t count = graph->nodes.size();
  BufferPlan plan;
  plan.graph = graph;
  plan.symbols = std::move(partition.plan.symbols);
  plan.names = std::move(partition.plan.names);
  plan.buffers.resize(count);
  plan.location.assign(count, -1);
  for (std::size_t id = 0; id < count; ++id) {
    const ir::Node& node = graph->nodes[id];
    plan.buffers[id] = {codegen::BufferRole::scratch, "t" + std::to_string(id), "t" + std::to_string(id),
                        codegen::value_type(node, options), node.shape};
    if (const int at = partition.plan.location[id]; at >= 0) {
      plan.buffers[id].dtype = partition.plan.buffers[static_cast<std::size_t>(at)].dtype;
      plan.location[id] = static_cast<int>(id);
    }
  }
  return plan;
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

/// How many of `near`, from its front, the group of `root` takes in at most. They are no longer stored then.
std::size_t most_taken_in(BufferPlan& plan, NodeId root, const std::vector<NodeId>& near,
                          const std::vector<std::vector<NodeId>>& consumers, const FitsGroup& fits) {
  for (const NodeId id : near) plan.location[static_cast<std::size_t>(id)] = -1;
  for (std::size_t count = near.size(); count > 0; --count) {
    const std::set<NodeId> absorbed(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count));
    const Group group = make_group(plan, {root, plan.location[static_cast<std::size_t>(root)], false});
    const bool all_inside = std::all_of(absorbed.begin(), absorbed.end(), [&](NodeId id) {
      return std::binary_search(group.members.begin(), group.members.end(), id);
    });
    if (all_inside && self_contained(group, consumers, absorbed) && fits(plan, group)) return count;
    const auto last = static_cast<std::size_t>(near[count - 1]);
    plan.location[last] = static_cast<int>(last);
  }
  return 0;
}

}  // namespace

Result<Partition> make_partition(const codegen::SharedGraph& graph, const Roots& roots,
                                 const codegen::NaiveOptions& options) {
  std::vector<bool> stored(graph->nodes.size(), false);
  for (const NodeId root : roots) stored[static_cast<std::size_t>(root)] = true;
  for (const auto& output : graph->outputs) stored[static_cast<std::size_t>(output.node)] = true;
  for (std::size_t id = 0; id < graph->nodes.size(); ++id)  // these are cheaper to make than to load
    if (ir::is<ir::InputAttr>(graph->nodes[id])) stored[id] = false;
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

std::vector<Roots> fusion_steps(const codegen::SharedGraph& graph, Roots roots, const codegen::NaiveOptions& options,
                                const FitsGroup& fits, const Roots& pinned) {
  std::vector<Roots> steps{roots};
  auto plan = sketch(graph, roots, options);
  if (!plan) return steps;
  const auto consumers = consumers_of(graph);
  std::set<NodeId> outputs;
  for (const auto& output : graph->outputs) outputs.insert(output.node);
  std::vector<NodeId> order(roots.begin(), roots.end());
  for (const NodeId output : outputs) order.push_back(output);
  std::sort(order.rbegin(), order.rend());  // consumers first
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (const NodeId root : order) {
    if (!roots.contains(root) && !outputs.contains(root)) continue;  // taken in already
    if (ir::is<ir::InputAttr>(graph[root]) || plan->location[static_cast<std::size_t>(root)] < 0)
      continue;  // copied, or needed by nothing
    // Candidates: stored ancestors, nearest first. The longest run of them that some family takes wins.
    std::vector<NodeId> near;
    NeededBy below(graph, root);
    for (auto id = std::make_reverse_iterator(roots.lower_bound(root));
         id != roots.rend() && near.size() < kMostTakenIn; ++id) {
      if (outputs.contains(*id) || pinned.contains(*id)) continue;
      // What the root does not need, or something else needs too, ends every run that reaches it.
      const auto& users = consumers[static_cast<std::size_t>(*id)];
      if (!below(*id) || !std::all_of(users.begin(), users.end(), [&](NodeId user) { return below(user); })) break;
      near.push_back(*id);
    }
    const std::size_t taken = most_taken_in(*plan, root, near, consumers, fits);
    if (taken == 0) continue;
    for (std::size_t i = 0; i < taken; ++i) roots.erase(near[i]);
    steps.push_back(roots);
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
