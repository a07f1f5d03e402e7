#include "codegen/buffer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/scratch.hpp"

namespace kerf::codegen {
namespace {

using ir::attr;
using ir::Graph;
using ir::is;
using ir::Node;
using ir::NodeId;

// Weights of inlined expressions, in units of one cheap operation.
constexpr int kFunction = 8;
constexpr int kExpensive = kFunction;  // not recomputed: neither in a second kernel nor several times per element
constexpr int kLoopOperand = 3;        // not recomputed inside the loops of contractions and convolutions
constexpr int kLargestKernel = 64;     // keeps kernels and compile times small

int own_weight(const Node& node) {
  if (is<ir::ReshapeAttr>(node) || is<ir::ViewAttr>(node)) return 1;
  if (!is<ir::MapAttr>(node)) return 0;
  switch (ir::facts_of(attr<ir::MapAttr>(node).op).cost) {
    case ir::CostClass::cheap: return 1;
    case ir::CostClass::division: return 2;
    case ir::CostClass::function: return kFunction;
  }
  return 1;
}

bool is_leaf(const Node& node) {
  return is<ir::InputAttr>(node) || is<ir::ConstantAttr>(node) || is<ir::IotaAttr>(node);
}

/// Whether `consumer` reads some element of `arg` more than once.
bool repeats(const Graph& graph, const Node& consumer, NodeId arg) {
  if (is<ir::ContractAttr>(consumer) || is<ir::ConvAttr>(consumer) || is<ir::PoolAttr>(consumer) ||
      is<ir::GatherAttr>(consumer) || is<ir::TopAttr>(consumer))
    return true;
  const Shape& shape = graph[arg].shape;
  if (is<ir::MapAttr>(consumer)) {
    if (shape.size() != consumer.shape.size()) return true;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d].is_one() && !consumer.shape[d].is_one()) return true;
    return false;
  }
  if (!is<ir::ViewAttr>(consumer)) return false;
  std::set<int> used;
  for (const auto& axis : attr<ir::ViewAttr>(consumer).axes)
    for (const auto& term : axis.terms) used.insert(term.axis);
  for (std::size_t d = 0; d < consumer.shape.size(); ++d)
    if (!consumer.shape[d].is_one() && !used.contains(static_cast<int>(d))) return true;
  return false;
}

/// A reduction over several axes becomes one reduction per axis, the last axis first: each of them is a kernel with
/// many work items, where reducing a whole tensor at once would be a single one.
Graph split_reductions(const Graph& graph) {
  Graph result;
  result.inputs = graph.inputs;
  result.outputs = graph.outputs;
  std::vector<NodeId> moved;
  const auto add = [&](Node node) {
    result.nodes.push_back(std::move(node));
    return static_cast<NodeId>(result.nodes.size()) - 1;
  };
  for (const Node& original : graph.nodes) {
    Node node = original;
    for (NodeId& arg : node.args) arg = moved[static_cast<std::size_t>(arg)];
    if (!is<ir::ReduceAttr>(node) || attr<ir::ReduceAttr>(node).axes.size() < 2) {
      moved.push_back(add(std::move(node)));
      continue;
    }
    const auto reduce = attr<ir::ReduceAttr>(node);
    NodeId current = node.args[0];
    for (auto axis = reduce.axes.rbegin(); axis != reduce.axes.rend(); ++axis) {
      Node stage = node;
      stage.attr = ir::ReduceAttr{reduce.op, {*axis}, true};
      stage.shape = result[current].shape;
      stage.shape[static_cast<std::size_t>(*axis)] = 1;
      stage.args = {current};
      current = add(std::move(stage));
    }
    if (!reduce.keepdims) {
      Node reshape = node;
      reshape.attr = ir::ReshapeAttr{};
      reshape.args = {current};
      current = add(std::move(reshape));
    }
    moved.push_back(current);
  }
  for (auto& named : result.inputs) named.node = moved[static_cast<std::size_t>(named.node)];
  for (auto& named : result.outputs) named.node = moved[static_cast<std::size_t>(named.node)];
  return result;
}

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes.size(), false);
  for (const auto& output : graph.outputs) live[static_cast<std::size_t>(output.node)] = true;
  for (std::size_t id = graph.nodes.size(); id-- > 0;)
    if (live[id])
      for (const NodeId arg : graph.nodes[id].args) live[static_cast<std::size_t>(arg)] = true;
  return live;
}

/// Decides which nodes are stored rather than inlined.
std::vector<bool> stored_nodes(const Graph& graph, const std::vector<bool>& live) {
  const std::size_t count = graph.nodes.size();
  std::vector<std::vector<NodeId>> consumers(count);
  for (std::size_t id = 0; id < count; ++id)
    if (live[id])
      for (const NodeId arg : graph.nodes[id].args)
        consumers[static_cast<std::size_t>(arg)].push_back(static_cast<NodeId>(id));

  // Forwards: the size of the expression that inlining a node would create.
  std::vector<bool> stored(count, false);
  std::vector<int> weight(count, 0);
  std::vector<std::set<NodeId>> inlined(count);
  for (std::size_t id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    if (!live[id] || is_leaf(node)) continue;
    if (is_anchor(node)) {
      stored[id] = true;
      continue;
    }
    inlined[id].insert(static_cast<NodeId>(id));
    for (const NodeId arg : node.args)
      if (!stored[static_cast<std::size_t>(arg)])
        inlined[id].insert(inlined[static_cast<std::size_t>(arg)].begin(),
                           inlined[static_cast<std::size_t>(arg)].end());
    for (const NodeId member : inlined[id]) weight[id] += own_weight(graph[member]);
    stored[id] = weight[id] >= kLargestKernel;
    for (const NodeId user : consumers[id]) {
      const Node& consumer = graph[user];
      const bool loop = is<ir::ContractAttr>(consumer) || is<ir::ConvAttr>(consumer) || is<ir::TopAttr>(consumer);
      if (loop && weight[id] >= kLoopOperand) stored[id] = true;
      if (weight[id] >= kExpensive && repeats(graph, consumer, static_cast<NodeId>(id))) stored[id] = true;
    }
  }
  // Backwards: the kernels that would recompute a node.
  std::set<NodeId> output_nodes;
  for (const auto& output : graph.outputs) output_nodes.insert(output.node);
  std::vector<std::set<NodeId>> roots(count);
  for (std::size_t id = count; id-- > 0;) {
    for (const NodeId user : consumers[id]) {
      const auto u = static_cast<std::size_t>(user);
      if (stored[u] || output_nodes.contains(user))
        roots[id].insert(user);
      else
        roots[id].insert(roots[u].begin(), roots[u].end());
    }
    if (roots[id].size() > 1 && weight[id] >= kExpensive) stored[id] = true;
    if (roots[id].size() > 8) roots[id].erase(std::next(roots[id].begin(), 8), roots[id].end());  // "many" is enough
  }
  return stored;
}

/// Names that collide neither with each other nor with shape symbols.
class Names {
 public:
  explicit Names(const Graph& graph) {
    std::vector<std::string> symbols;
    for (const Node& node : graph.nodes) {
      for (const Dim& extent : node.shape) extent.collect_symbols(symbols);
      if (is<ir::ConvAttr>(node)) attr<ir::ConvAttr>(node).groups.collect_symbols(symbols);
      if (!is<ir::ViewAttr>(node)) continue;
      for (const auto& axis : attr<ir::ViewAttr>(node).axes) {
        axis.offset.collect_symbols(symbols);
        if (axis.modulo) axis.modulo->collect_symbols(symbols);
      }
    }
    taken_.insert(symbols.begin(), symbols.end());
    symbols_ = taken_;
    for (const auto& input : graph.inputs) taken_.insert(input.name);
    for (const auto& output : graph.outputs) taken_.insert(output.name);
  }
  std::string unique(std::string_view wish) {
    std::string base;
    for (const char c : wish) base += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    std::string name = base;
    for (int suffix = 2; !taken_.insert(name).second; ++suffix) name = fmt::format("{}_{}", base, suffix);
    return name;
  }
  const std::set<std::string>& symbols() const { return symbols_; }
  const std::set<std::string>& taken() const { return taken_; }

 private:
  std::set<std::string> symbols_;
  std::set<std::string> taken_;
};

}  // namespace

bool is_anchor(const ir::Node& node) {
  return is<ir::ConcatAttr>(node) || is<ir::ReduceAttr>(node) || is<ir::ScanAttr>(node) || is<ir::ContractAttr>(node) ||
         is<ir::ConvAttr>(node) || is<ir::PoolAttr>(node) || is<ir::AdaptivePoolAttr>(node) ||
         is<ir::GatherAttr>(node) || is<ir::TopAttr>(node);
}

std::vector<bool> stored_by_default(const ir::Graph& graph) { return stored_nodes(graph, live_nodes(graph)); }

DType value_type(const ir::Node& node, const NaiveOptions& options) {
  if (is_float(node.dtype)) return options.compute;
  return node.dtype == DType::boolean ? DType::boolean : DType::i64;
}

Result<BufferPlan> make_buffer_plan(const ir::Graph& original, const NaiveOptions& options) {
  Graph graph = split_reductions(ir::simplify(original));
  const std::vector<bool> stored = stored_by_default(graph);
  return make_buffer_plan(SharedGraph(std::move(graph)), stored, options);
}

Result<BufferPlan> make_buffer_plan(SharedGraph taken, const std::vector<bool>& stored, const NaiveOptions& options) {
  BufferPlan plan;
  plan.graph = std::move(taken);
  const Graph& graph = plan.graph;
  Names names(graph);
  std::set<std::string> boundary;
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const auto& named : *list)
      if (!boundary.insert(named.name).second)
        return fail(Errc::invalid_input, fmt::format("two inputs or outputs are called '{}': a kernel's arguments are "
                                                     "told apart by name; rename one",
                                                     named.name));

  const std::vector<bool> live = live_nodes(graph);
  plan.location.assign(graph.nodes.size(), -1);
  const auto add_buffer = [&](Buffer buffer) {
    plan.buffers.push_back(std::move(buffer));
    return static_cast<int>(plan.buffers.size()) - 1;
  };
  for (const auto& input : graph.inputs) {
    const Node& node = graph[input.node];
    plan.location[static_cast<std::size_t>(input.node)] =
        add_buffer({BufferRole::input, input.name, names.unique("in_" + input.name), node.dtype, node.shape});
  }
  // A stored node lives in an output when that output keeps its value unrounded, or when nobody else reads it.
  std::vector<int> readers(graph.nodes.size(), 0);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (live[id])
      for (const NodeId arg : graph.nodes[id].args) ++readers[static_cast<std::size_t>(arg)];
  for (const auto& output : graph.outputs) ++readers[static_cast<std::size_t>(output.node)];
  std::vector<std::vector<int>> targets(graph.nodes.size());
  for (const auto& output : graph.outputs) {
    const Node& node = graph[output.node];
    const auto id = static_cast<std::size_t>(output.node);
    const bool widened = options.outputs_in_compute_type && is_float(node.dtype);
    const DType dtype = widened ? options.compute : node.dtype;
    const int buffer =
        add_buffer({BufferRole::output, output.name, names.unique("out_" + output.name), dtype, node.shape});
    targets[id].push_back(buffer);
    const bool exact = dtype == value_type(node, options);
    if (plan.location[id] < 0 && (exact || (stored[id] && readers[id] == 1))) plan.location[id] = buffer;
  }
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!live[id]) continue;
    const Node& node = graph.nodes[id];
    if (stored[id] && plan.location[id] < 0)
      plan.location[id] = add_buffer(
          {BufferRole::scratch, names.unique(fmt::format("t{}", id)), "", value_type(node, options), node.shape});
    const int home = plan.location[id];
    const bool computed = home >= 0 && plan.buffers[static_cast<std::size_t>(home)].role != BufferRole::input;
    if (computed) plan.kernels.push_back({static_cast<NodeId>(id), home, false});
    for (const int buffer : targets[id])
      if (buffer != home) plan.kernels.push_back({static_cast<NodeId>(id), buffer, home >= 0});
  }
  for (Buffer& buffer : plan.buffers)
    if (buffer.parameter.empty()) buffer.parameter = buffer.name;
  share_scratch(plan);
  for (const auto& symbol : names.symbols()) plan.symbols[symbol] = names.unique("N_" + symbol);
  plan.names = std::make_shared<const std::set<std::string>>(names.taken());
  return plan;
}

}  // namespace kerf::codegen
