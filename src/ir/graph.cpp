#include "ir/graph.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "ir/graph_fold.hpp"

namespace kerf::ir {
namespace {

std::string_view scan_op_name(ScanOp op) {
  static constexpr std::array<std::string_view, 4> kNames{"cumsum", "cumprod", "cummax", "cummin"};
  return kNames[static_cast<std::size_t>(op)];
}

template <class T>
std::string list(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "]";
}

std::string number(double value) {
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {  // the shortest text that reads back as the same value
    std::array<char, 40> shorter{};
    std::snprintf(shorter.data(), shorter.size(), "%.*g", digits, value);
    if (std::strtod(shorter.data(), nullptr) == value) return shorter.data();
  }
  return buffer.data();
}

/// The kind and its attributes, such as "reduce sum axes=[1] keepdims".
struct Describe {
  std::string operator()(const InputAttr& a) const { return "input " + a.name; }
  std::string operator()(const ConstantAttr& a) const { return "constant " + number(a.value); }
  std::string operator()(const IotaAttr& a) const { return "iota axis=" + std::to_string(a.axis); }
  std::string operator()(const MapAttr& a) const { return std::string(map_op_name(a.op)); }
  std::string operator()(const ReshapeAttr&) const { return "reshape"; }
  std::string operator()(const ConcatAttr& a) const { return "concat axis=" + std::to_string(a.axis); }
  std::string operator()(const GatherAttr& a) const { return "gather axis=" + std::to_string(a.axis); }
  std::string operator()(const TopAttr& a) const {
    return std::string(a.largest ? "largest" : "smallest") + " axis=" + std::to_string(a.axis);
  }
  std::string operator()(const ReduceAttr& a) const {
    return "reduce " + std::string(reduce_op_name(a.op)) + " axes=" + list(a.axes) + (a.keepdims ? " keepdims" : "");
  }
  std::string operator()(const ScanAttr& a) const {
    return std::string(scan_op_name(a.op)) + " axis=" + std::to_string(a.axis) + (a.exclusive ? " exclusive" : "") +
           (a.reverse ? " reverse" : "");
  }
  std::string operator()(const ContractAttr& a) const {
    return "contract " + list(a.lhs) + list(a.rhs) + "->" + list(a.out);
  }
  std::string operator()(const ConvAttr& a) const {
    return std::string(a.transposed ? "conv_transpose" : "conv") + " stride=" + list(a.stride) +
           " padding=" + list(a.padding) + " dilation=" + list(a.dilation) + " groups=" + a.groups.to_string() +
           (a.transposed ? " output_padding=" + list(a.output_padding) : "");
  }
  std::string operator()(const PoolAttr& a) const {
    return std::string(a.op == PoolOp::max ? "max_pool" : "sum_pool") + " kernel=" + list(a.kernel) +
           " stride=" + list(a.stride) + " padding=" + list(a.padding) + " dilation=" + list(a.dilation);
  }
  std::string operator()(const AdaptivePoolAttr& a) const {
    return std::string(a.op == PoolOp::max ? "adaptive_max_pool" : "adaptive_sum_pool") +
           " rank=" + std::to_string(a.rank);
  }
  std::string operator()(const ViewAttr& a) const {
    std::string text = "view [";
    for (std::size_t d = 0; d < a.axes.size(); ++d) {
      text += d == 0 ? "" : ", ";
      std::string index;
      for (const auto& term : a.axes[d].terms) {
        index += index.empty() ? "" : " + ";
        index += (term.stride == 1 ? "" : std::to_string(term.stride) + "*") + "i" + std::to_string(term.axis);
      }
      if (index.empty() || !(a.axes[d].offset == Dim(0)))
        index += (index.empty() ? "" : " + ") + a.axes[d].offset.to_string();
      if (a.axes[d].modulo) index = "(" + index + ") mod " + a.axes[d].modulo->to_string();
      text += index;
    }
    return text + "]" + (a.fill ? " fill=" + number(*a.fill) : "");
  }
};

std::string arguments(const Node& node) {
  std::string text = "(";
  for (std::size_t i = 0; i < node.args.size(); ++i) text += (i == 0 ? "%" : ", %") + std::to_string(node.args[i]);
  return text + ")";
}

/// Marks what the outputs need, and all inputs.
std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes.size(), false);
  for (const auto& named : graph.inputs) live[static_cast<std::size_t>(named.node)] = true;
  for (const auto& named : graph.outputs) live[static_cast<std::size_t>(named.node)] = true;
  for (std::size_t id = graph.nodes.size(); id-- > 0;) {
    if (!live[id]) continue;
    for (const NodeId arg : graph.nodes[id].args) live[static_cast<std::size_t>(arg)] = true;
  }
  return live;
}

/// Copies the nodes that `transform` keeps, merging the identical ones and renumbering arguments.
class Rebuilder {
 public:
  explicit Rebuilder(const Graph& graph) : graph_(graph), renamed_(graph.nodes.size(), -1) {}

  void keep(std::size_t id, bool fold) {
    Node node = graph_.nodes[id];
    for (NodeId& arg : node.args) arg = renamed_[static_cast<std::size_t>(arg)];
    if (fold) node = fold_constants(std::move(node), result_);
    const auto [place, inserted] = known_.try_emplace(structural_key(node), static_cast<NodeId>(result_.nodes.size()));
    if (inserted) result_.nodes.push_back(std::move(node));
    renamed_[id] = place->second;
  }
  Graph take() {
    for (const auto& named : graph_.inputs) result_.inputs.push_back({named.name, rename(named.node)});
    for (const auto& named : graph_.outputs) result_.outputs.push_back({named.name, rename(named.node)});
    return std::move(result_);
  }

 private:
  NodeId rename(NodeId id) const { return renamed_[static_cast<std::size_t>(id)]; }

  const Graph& graph_;
  std::vector<NodeId> renamed_;
  std::map<std::string, NodeId> known_;
  Graph result_;
};

Graph rebuild(const Graph& graph, bool fold) {
  const std::vector<bool> live = live_nodes(graph);
  Rebuilder rebuilder(graph);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (live[id]) rebuilder.keep(id, fold);
  return rebuilder.take();
}

}  // namespace

std::string_view reduce_op_name(ReduceOp op) {
  static constexpr std::array<std::string_view, 8> kNames{"sum",    "prod",   "max", "min",
                                                          "argmax", "argmin", "any", "all"};
  return kNames[static_cast<std::size_t>(op)];
}

std::string structural_key(const Node& node) {
  std::string key(dtype_name(node.dtype));
  key += to_string(node.shape);
  // Constants by their bits: -0 and 0 differ, NaN equals itself.
  key += is<ConstantAttr>(node)
             ? "constant " + std::to_string(std::bit_cast<std::uint64_t>(attr<ConstantAttr>(node).value))
             : std::visit(Describe{}, node.attr);
  return key + arguments(node);
}

Graph simplify(const Graph& graph) {
  return rebuild(rebuild(graph, true), false);  // folding leaves dead constants behind
}

std::string to_string(const Graph& graph) {
  std::string text;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    text += "%" + std::to_string(id) + ": " + std::string(dtype_name(node.dtype)) + to_string(node.shape) + " = " +
            std::visit(Describe{}, node.attr);
    if (!node.args.empty()) text += " " + arguments(node);
    if (!node.origin.empty()) text += "  # " + node.origin;
    text += "\n";
  }
  for (const auto& named : graph.outputs) text += "output " + named.name + " = %" + std::to_string(named.node) + "\n";
  return text;
}

Result<bool> holds(const Condition& condition, const Bindings& bindings) {
  KERF_TRY(const std::int64_t left, condition.left.evaluate(bindings));
  KERF_TRY(const std::int64_t right, condition.right.evaluate(bindings));
  return condition.relation == Condition::Relation::equal ? left == right : left <= right;
}

std::string to_string(const Condition& condition) {
  const char* relation = condition.relation == Condition::Relation::equal ? " == " : " <= ";
  return condition.left.to_string() + relation + condition.right.to_string();
}

}  // namespace kerf::ir
