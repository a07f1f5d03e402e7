// Attention: a product of queries and keys, anything elementwise on the scores (scale, masks), a softmax over the keys,
// a product with the values; recognised by its structure, whatever function wrote it.
//
// Templates get the extents B (batches), SQ (queries), SK (keys), E (depth of the first product), D (columns of the
// values); the hooks $load_q($args, b, q, e), $load_k($args, b, key, e), $load_v($args, b, key, d), $score($args, b, q,
// key, dot) and $store($args, b, q, d, total). CAUSAL: keys after the query have the score -inf, so their weight is
// exactly 0; values that are not finite still make the result NaN (0 times infinity), so whoever skips such keys must
// add 0 * value for them.

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/matmul_axes.hpp"
#include "propose/synth/families/matmul_epilogue.hpp"

namespace kerf::synth {
namespace {

using ir::attr;
using ir::is;
using ir::MapOp;
using ir::Node;
using ir::NodeId;

struct Attention {
  NodeId first = 0, scores = 0, second = 0;  ///< Q K^T, what the softmax sees, the product with the values
  NodeId q = 0, k = 0, v = 0;
  std::vector<int> q_labels, k_labels;  ///< of the first product
  ProductAxes outer;                    ///< of the second product: a is the softmax
  std::vector<int> depth;               ///< labels summed in the first product
  std::map<int, Dim> depth_extents;
  bool causal = false;
};

bool is_map(const ir::Graph& graph, NodeId id, MapOp op) {
  return is<ir::MapAttr>(graph[id]) && attr<ir::MapAttr>(graph[id]).op == op;
}

bool has_label(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// A reduction along `axis` alone, of `of`, that keeps the axis.
bool reduces(const Node& node, ir::ReduceOp op, NodeId of, int axis) {
  if (!is<ir::ReduceAttr>(node) || node.args[0] != of) return false;
  const auto& reduce = attr<ir::ReduceAttr>(node);
  return reduce.op == op && reduce.axes == std::vector<int>{axis} && reduce.keepdims;
}

/// weights = e / sum(e) with e = exp(z - max(z)); gives z.
std::optional<NodeId> softmax_argument(const ir::Graph& graph, NodeId weights, int axis) {
  if (!is_map(graph, weights, MapOp::div)) return {};
  const NodeId e = graph[weights].args[0];
  if (!is_map(graph, e, MapOp::exp) || !reduces(graph[graph[weights].args[1]], ir::ReduceOp::sum, e, axis)) return {};
  const NodeId shifted = graph[e].args[0];
  if (!is_map(graph, shifted, MapOp::sub)) return {};
  const NodeId z = graph[shifted].args[0];
  if (!reduces(graph[graph[shifted].args[1]], ir::ReduceOp::max, z, axis)) return {};
  return z;
}

/// The axis of a rank-`rank` result along which a node of indices counts, or -1.
int counts_along(const ir::Graph& graph, NodeId id, std::size_t rank) {
  if (!is<ir::IotaAttr>(graph[id])) return -1;
  return attr<ir::IotaAttr>(graph[id]).axis + static_cast<int>(rank - graph[id].shape.size());
}

/// Whether z = select(key <= query, anything, -inf) with the indices along these axes.
bool is_causal(const ir::Graph& graph, NodeId z, int query_axis, int key_axis) {
  if (!is_map(graph, z, MapOp::select)) return false;
  const NodeId condition = graph[z].args[0], never = graph[z].args[2];
  if (!is<ir::ConstantAttr>(graph[never]) || !(attr<ir::ConstantAttr>(graph[never]).value < -1e300)) return false;
  const bool less = is_map(graph, condition, MapOp::less_equal),
             greater = is_map(graph, condition, MapOp::greater_equal);
  if (!less && !greater) return false;
  const std::size_t rank = graph[z].shape.size();
  const auto& args = graph[condition].args;
  return counts_along(graph, args[less ? 0 : 1], rank) == key_axis &&
         counts_along(graph, args[less ? 1 : 0], rank) == query_axis;
}

/// Whether every path inside the group from `from` up to `to` is elementwise and keeps the shape, and `from` is the
/// only anchor below.
bool elementwise_between(const ir::Graph& graph, const Group& group, NodeId from, NodeId to) {
  Group part;
  part.root = to;
  for (const NodeId id : group.members)
    if (id <= to) part.members.push_back(id);
  const auto steps = layout_steps(graph, part, from);
  return steps && steps->empty();
}

std::optional<Attention> recognise(const ir::Graph& graph, const Group& group) {
  if (group.anchors.size() != 4) return {};
  Attention found;
  found.first = group.anchors.front();
  found.second = group.anchors.back();
  if (!is<ir::ContractAttr>(graph[found.first]) || !is<ir::ContractAttr>(graph[found.second])) return {};
  if (!is_float(graph[found.first].dtype) || !is_float(graph[found.second].dtype)) return {};
  const auto outer = product_axes(graph, found.second);
  if (!outer || outer->k.size() != 1) return {};
  found.outer = *outer;
  found.v = outer->b;
  const int key_axis = static_cast<int>(std::find(outer->a_labels.begin(), outer->a_labels.end(), outer->k[0]) -
                                        outer->a_labels.begin());
  const auto z = softmax_argument(graph, outer->a, key_axis);
  if (!z || !elementwise_between(graph, group, found.first, *z)) return {};
  found.scores = *z;
  // The operand of the first product that has the key's axis holds the keys; the other one has the queries' axes.
  const auto& inner = attr<ir::ContractAttr>(graph[found.first]);
  const int key_label = inner.out[static_cast<std::size_t>(key_axis)];
  const bool lhs_keys = has_label(inner.lhs, key_label);
  if (lhs_keys == has_label(inner.rhs, key_label)) return {};
  found.q = graph[found.first].args[lhs_keys ? 1 : 0];
  found.k = graph[found.first].args[lhs_keys ? 0 : 1];
  found.q_labels = lhs_keys ? inner.rhs : inner.lhs;
  found.k_labels = lhs_keys ? inner.lhs : inner.rhs;
  for (std::size_t d = 0; d < outer->a_labels.size(); ++d)
    if (has_label(outer->m, outer->a_labels[d]) && has_label(found.k_labels, inner.out[d])) return {};
  const auto axes = product_axes(graph, found.first);
  if (!axes) return {};
  found.depth = axes->k;
  found.depth_extents = axes->extents;
  if (outer->m.size() == 1) {
    const int query_axis = static_cast<int>(std::find(outer->a_labels.begin(), outer->a_labels.end(), outer->m[0]) -
                                            outer->a_labels.begin());
    found.causal = is_causal(graph, *z, query_axis, key_axis);
  }
  return found;
}

class AttentionFamily final : public Family {
 public:
  std::string_view name() const override { return "attention"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    const auto found = recognise(plan.graph, group);
    return found && layout_steps(plan.graph, group, found->second);
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const ir::Graph& graph = hooks.plan().graph;
    const auto found = recognise(graph, group);
    const auto steps = found ? layout_steps(graph, group, found->second) : std::nullopt;
    KERF_CHECK(found && steps, "fill is called for groups that fit");
    const ProductAxes& outer = found->outer;
    TemplateValues values;
    set_extent(values, "B", outer.extent(outer.batch), hooks);
    set_extent(values, "SQ", outer.extent(outer.m), hooks);
    set_extent(values, "SK", outer.extent(outer.k), hooks);
    set_extent(values, "D", outer.extent(outer.n), hooks);
    Shape depth;
    for (const int label : found->depth) depth.push_back(found->depth_extents.at(label));
    set_extent(values, "E", element_count(depth), hooks);
    set_flag(values, "CAUSAL", found->causal);
    set_flag(values, "F32", hooks.options().compute == DType::f32);
    values.text["REAL"] = std::string(dtype_name(hooks.options().compute));
    set_extent(values, "WORDS", hooks.options().compute == DType::f32 ? 1 : 2, hooks);
    write_hooks(*found, *steps, group, depth, hooks);
    return values;
  }

 private:
  static void write_hooks(const Attention& found, const std::vector<LayoutStep>& steps, const Group& group,
                          const Shape& depth, HookWriter& hooks) {
    using codegen::Index;
    const ir::Graph& graph = hooks.plan().graph;
    const ProductAxes& outer = found.outer;
    // The scores' index, and from it that of both operands of the first product.
    const auto at = place(outer, outer.a_labels, hooks, "b", "q", "", "k");
    std::map<int, std::string> text;
    const auto& labels = attr<ir::ContractAttr>(graph[found.first]).out;
    for (std::size_t d = 0; d < labels.size(); ++d) text[labels[d]] = at[d];
    const auto deep = unflatten("e", depth, hooks);
    for (std::size_t d = 0; d < found.depth.size(); ++d) text[found.depth[d]] = deep[d];
    const auto operand = [&](const std::vector<int>& own) {
      std::vector<std::string> index;
      for (const int label : own) index.push_back(text.at(label));
      return Index::of_axes(index);
    };
    hooks.value("load_q", found.q, {"b", "q", "e"}, operand(found.q_labels));
    hooks.value("load_k", found.k, {"b", "k", "e"}, operand(found.k_labels));
    hooks.value("load_v", found.v, {"b", "k", "d"},
                Index::of_axes(place(outer, outer.b_labels, hooks, "b", "", "d", "k")));
    hooks.value("score", found.scores, {"b", "q", "k"}, Index::of_axes(at), {{found.first, "dot"}});
    hooks.store("store", group.root, group.buffer, {"b", "q", "d"},
                index_in_root(steps, graph[found.second].shape,
                              place(outer, outer.out_labels, hooks, "b", "q", "d", ""), hooks),
                {{found.second, "total"}});
  }
};

}  // namespace

const Family& attention_family() {
  static const AttentionFamily family;
  return family;
}

}  // namespace kerf::synth
