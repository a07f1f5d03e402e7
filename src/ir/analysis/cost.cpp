#include "ir/analysis/cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "ir/analysis/cost_demand.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

using cost_detail::argument_demand;
using cost_detail::Demand;
using cost_detail::Extents;
using cost_detail::full_demand;

/// Largest mask that is looked at; beyond, nothing is assumed about it.
constexpr double kLargestMask = double(1 << 26);

/// A node that equals `outside` except on the share `density` of its elements, whatever the inputs are (tril, causal
/// masks). Products with a structural zero need not be computed.
struct Support {
  double outside = 0;
  double density = 1;
  int mask = -1;  ///< the same number: the same elements
};

/// A mask that depends on positions only. Too large to look at: both shares are 0 and there are no elements.
struct Mask {
  double true_share = 0, false_share = 0;
  std::vector<std::byte> elements;
};

bool is_special(MapOp op) { return facts_of(op).cost != CostClass::cheap; }

bool is_linear(MapOp op) {
  return op == MapOp::add || op == MapOp::sub || op == MapOp::neg || op == MapOp::mul || op == MapOp::div ||
         op == MapOp::cast;
}

class Accountant {
 public:
  Accountant(const Graph& graph, const Bindings& bindings) : graph_(graph), bindings_(bindings) {}

  Result<Cost> total() {
    for (const Node& node : graph_.nodes) {
      KERF_TRY(Extents extents, evaluate(node.shape, bindings_));
      extents_.push_back(std::move(extents));
    }
    KERF_TRY_VOID(find_structure());
    demand_backwards();
    Cost cost;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) charge(id, cost);
    for (const auto& output : graph_.outputs)
      cost.bytes_written += elements(output.node) * static_cast<double>(dtype_size(graph_[output.node].dtype));
    return cost;
  }

 private:
  const Extents& extents(NodeId id) const { return extents_[static_cast<std::size_t>(id)]; }
  double elements(NodeId id) const {
    double count = 1;
    for (const auto extent : extents(id)) count *= static_cast<double>(extent);
    return count;
  }
  std::vector<Extents> argument_extents(const Node& node) const {
    std::vector<Extents> all;
    for (const NodeId arg : node.args) all.push_back(extents(arg));
    return all;
  }

  /// Forwards: nodes that depend on no input, and the supports that masks among them give to others.
  Status find_structure() {
    structural_.assign(graph_.nodes.size(), false);
    support_.resize(graph_.nodes.size());
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      structural_[id] = !is<InputAttr>(node) && std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
        return structural_[static_cast<std::size_t>(arg)];
      });
      if (node.args.empty() || (structural_[id] && node.dtype == DType::boolean)) continue;
      KERF_TRY(support_[id], support_of(node));
    }
    return {};
  }

  Result<std::optional<Support>> support_of(const Node& node) {
    if (is<ReshapeAttr>(node)) {
      std::optional<Support> support = support_[static_cast<std::size_t>(node.args[0])];
      if (support) support->mask = -1;
      return support;
    }
    if (is<ViewAttr>(node)) return moved_support(node);
    if (!is<MapAttr>(node)) return std::optional<Support>{};
    const MapOp op = attr<MapAttr>(node).op;
    if (op == MapOp::select && structural_[static_cast<std::size_t>(node.args[0])]) {
      KERF_TRY(const Mask* mask, mask_of(node.args[0]));
      const int number = 2 * node.args[0];
      if (const auto value = constant(node.args[2])) return std::optional<Support>{{*value, mask->true_share, number}};
      if (const auto value = constant(node.args[1]))
        return std::optional<Support>{{*value, mask->false_share, number + 1}};
      return std::optional<Support>{};
    }
    if (node.args.size() == 1) {
      const auto& x = support_[static_cast<std::size_t>(node.args[0])];
      if (!x) return std::optional<Support>{};
      const double outside = op == MapOp::cast ? x->outside : map_scalar(op, x->outside, 0);
      return std::optional<Support>{{outside, x->density, x->mask}};
    }
    if (node.args.size() != 2) return std::optional<Support>{};
    // 0 * anything is 0 and -inf + anything is -inf, as far as the masked elements of honest tasks go.
    for (const std::size_t side : {0U, 1U}) {
      const auto& x = support_[static_cast<std::size_t>(node.args[side])];
      if (!x || elements(node.args[side]) < 1) continue;
      const bool zero = x->outside == 0 && (op == MapOp::mul || (op == MapOp::div && side == 0));
      const bool infinite = std::isinf(x->outside) && (op == MapOp::add || (op == MapOp::sub && side == 0));
      if (zero || infinite) return std::optional<Support>{*x};
    }
    return std::optional<Support>{};
  }

  /// Transposes and broadcasts keep the share; of other views nothing is known.
  std::optional<Support> moved_support(const Node& node) const {
    const auto& x = support_[static_cast<std::size_t>(node.args[0])];
    if (!x) return std::nullopt;
    const auto& view = attr<ViewAttr>(node);
    const Extents& from = extents(node.args[0]);
    bool whole = !view.fill;
    for (std::size_t d = 0; whole && d < from.size(); ++d) {
      const auto& map = view.axes[d];
      whole = (map.terms.empty() && from[d] == 1) ||
              (map.terms.size() == 1 && std::abs(map.terms[0].stride) == 1 &&
               node.shape[static_cast<std::size_t>(map.terms[0].axis)].evaluate(bindings_).value_or(-1) == from[d]);
    }
    return Support{x->outside, whole ? x->density : 0, -1};
  }

  std::optional<double> constant(NodeId id) const {
    const Node* node = &graph_[id];
    while (is<ViewAttr>(*node) || is<ReshapeAttr>(*node) ||
           (is<MapAttr>(*node) && attr<MapAttr>(*node).op == MapOp::cast))
      node = &graph_[node->args[0]];
    if (!is<ConstantAttr>(*node)) return std::nullopt;
    return attr<ConstantAttr>(*node).value;
  }

  Result<const Mask*> mask_of(NodeId id) {
    if (const auto known = masks_.find(id); known != masks_.end()) return &known->second;
    Mask mask;
    const double count = elements(id);
    if (count > 0 && count <= kLargestMask) {
      Graph part;
      part.nodes.assign(graph_.nodes.begin(), graph_.nodes.begin() + id + 1);
      part.outputs = {{"mask", id}};
      KERF_TRY(auto values, interpret(simplify(part), {}, bindings_));
      mask.elements = std::move(values[0].bytes);
      mask.false_share =
          static_cast<double>(std::count(mask.elements.begin(), mask.elements.end(), std::byte{0})) / count;
      mask.true_share = 1 - mask.false_share;
    }
    return &masks_.emplace(id, std::move(mask)).first->second;
  }

  /// Backwards: what is needed of each node, and whether its elements are needed one by one (`pinned_`) or only as
  /// sums that algebra may form without them.
  void demand_backwards() {
    demand_.resize(graph_.nodes.size());
    pinned_.assign(graph_.nodes.size(), false);
    for (const auto& output : graph_.outputs) {
      demand_[static_cast<std::size_t>(output.node)] = full_demand(extents(output.node));
      pinned_[static_cast<std::size_t>(output.node)] = true;
    }
    for (std::size_t id = graph_.nodes.size(); id-- > 0;) {
      const Node& node = graph_.nodes[id];
      if (!demand_[id].any || node.args.empty() || structural_[id]) continue;
      const auto arguments = argument_extents(node);
      for (std::size_t a = 0; a < node.args.size(); ++a) {
        Demand needed = argument_demand(node, a, demand_[id], arguments, extents_[id], bindings_);
        if (is<MapAttr>(node)) thin_out(node, id, a, needed);
        if (is<ContractAttr>(node)) needed.density = covered(node, a, demand_[id]);
        const auto arg = static_cast<std::size_t>(node.args[a]);
        unite(demand_[arg], needed);
        if (needs_elements(node, id)) pinned_[arg] = true;
      }
    }
  }

  /// Where a mask decides the result, argument `a` is needed on one side of it only.
  void thin_out(const Node& node, std::size_t id, std::size_t a, Demand& needed) const {
    double share = 1;
    int mask = -1;
    if (attr<MapAttr>(node).op == MapOp::select && a > 0 && structural_[static_cast<std::size_t>(node.args[0])]) {
      const Mask& condition = masks_.at(node.args[0]);
      share = a == 1 ? condition.true_share : condition.false_share;
      mask = 2 * node.args[0] + (a == 1 ? 0 : 1);
    } else if (support_[id]) {
      share = support_[id]->density;
      mask = support_[id]->mask;
    }
    overlap(needed, share, mask);
  }

  /// Restricts a need to one side of a mask. Two different ones overlap at least in what is left when the rest of both
  /// is taken away.
  static void overlap(Demand& needed, double share, int mask) {
    if (share == 1 || (mask >= 0 && mask == needed.mask)) return;
    needed.mask = needed.density == 1 ? mask : -1;
    needed.density = std::max(0.0, needed.density + share - 1);
  }

  /// Share of an operand's rows that have something to do with the needed part of a contraction's result.
  double covered(const Node& node, std::size_t which, const Demand& out) const {
    const Mask* mask = out.mask < 0 ? nullptr : &masks_.at(out.mask / 2);
    if (mask == nullptr || mask->elements.empty()) return out.density;
    const auto& contract = attr<ContractAttr>(node);
    const auto& labels = which == 0 ? contract.lhs : contract.rhs;
    const Extents& shape = extents(out.mask / 2);
    const std::size_t lead = contract.out.size() - shape.size();
    std::vector<std::int64_t> stride(shape.size(), 0);  // in the projection of the mask onto the operand's axes
    std::int64_t size = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (std::find(labels.begin(), labels.end(), contract.out[lead + d]) == labels.end()) continue;
      stride[d] = size;
      size *= shape[d];
    }
    const std::byte wanted{static_cast<unsigned char>(out.mask % 2 == 0 ? 1 : 0)};
    std::vector<char> reached(static_cast<std::size_t>(size), 0);
    std::vector<std::int64_t> index(shape.size(), 0);
    std::int64_t place = 0;
    for (const std::byte element : mask->elements) {
      if (element == wanted) reached[static_cast<std::size_t>(place)] = 1;
      for (std::size_t d = shape.size(); d-- > 0;) {  // the next element, row by row
        place += stride[d];
        if (++index[d] < shape[d]) break;
        place -= stride[d] * shape[d];
        index[d] = 0;
      }
    }
    return static_cast<double>(std::count(reached.begin(), reached.end(), 1)) / static_cast<double>(size);
  }

  bool needs_elements(const Node& node, std::size_t id) const {
    if (is<MapAttr>(node)) {
      const bool square = node.args.size() == 2 && node.args[0] == node.args[1];
      return !is_linear(attr<MapAttr>(node).op) || square || pinned_[id];
    }
    if (is<ReshapeAttr>(node) || is<ViewAttr>(node) || is<ConcatAttr>(node)) return pinned_[id];
    if (is<ReduceAttr>(node)) return attr<ReduceAttr>(node).op != ReduceOp::sum;
    if (is<PoolAttr>(node)) return attr<PoolAttr>(node).op != PoolOp::sum;
    if (is<AdaptivePoolAttr>(node)) return attr<AdaptivePoolAttr>(node).op != PoolOp::sum;
    return is<ScanAttr>(node) || is<GatherAttr>(node) || is<TopAttr>(node);
  }

  void charge(std::size_t id, Cost& cost) const {
    const Node& node = graph_.nodes[id];
    const Demand& demand = demand_[id];
    if (!demand.any || structural_[id]) return;
    if (is<InputAttr>(node)) {
      cost.bytes_read += demand.count() * static_cast<double>(dtype_size(node.dtype));
    } else if (is<MapAttr>(node)) {
      const MapOp op = attr<MapAttr>(node).op;
      Demand computed = demand;
      if (support_[id]) overlap(computed, support_[id]->density, support_[id]->mask);
      if (op != MapOp::cast) (is_special(op) ? cost.special_ops : cost.other_flops) += computed.count();
    } else if (is<ReduceAttr>(node) || is<PoolAttr>(node) || is<AdaptivePoolAttr>(node)) {
      cost.other_flops += combined_terms(node, demand);
    } else if (is<TopAttr>(node)) {  // the first of a line takes as many comparisons as it has others
      const auto axis = static_cast<std::size_t>(attr<TopAttr>(node).axis);
      const double lines = demand.count() / std::max<double>(1, static_cast<double>(demand.axes[axis].count()));
      cost.other_flops += lines * std::max<double>(0, static_cast<double>(extents(node.args[0])[axis]) - 1);
    } else if (is<ScanAttr>(node)) {
      const auto axis = static_cast<std::size_t>(attr<ScanAttr>(node).axis);
      const Demand line = argument_demand(node, 0, demand, argument_extents(node), extents_[id], bindings_);
      const double steps = static_cast<double>(line.axes[axis].count());
      if (steps > 0) cost.other_flops += line.count() / steps * (steps - 1);
    } else if (is<ContractAttr>(node) || is<ConvAttr>(node)) {
      cost.fma_flops += 2 * products(node, demand);
      if (!pinned_[id]) cost.fma_avoidable = true;
    }
  }

  /// Additions (or comparisons) of a reduction: one less than the terms of each result.
  double combined_terms(const Node& node, const Demand& demand) const {
    const Extents& from = extents(node.args[0]);
    double terms = demand.density;
    if (is<ReduceAttr>(node)) {
      terms = demand.count();
      for (const int axis : attr<ReduceAttr>(node).axes)
        terms *= static_cast<double>(from[static_cast<std::size_t>(axis)]);
      const auto& support = support_[static_cast<std::size_t>(node.args[0])];
      if (support) terms *= support->density;
    } else {
      const bool adaptive = is<AdaptivePoolAttr>(node);
      const std::size_t rank =
          adaptive ? static_cast<std::size_t>(attr<AdaptivePoolAttr>(node).rank) : attr<PoolAttr>(node).kernel.size();
      const std::size_t lead = from.size() - rank;
      for (std::size_t d = 0; d < from.size(); ++d) {
        double along = static_cast<double>(demand.axes[d].count());
        if (d >= lead && adaptive) {
          along = 0;
          const std::int64_t n = from[d], m = demand.axes[d].extent();
          for (std::int64_t i = 0; i < m; ++i)
            if (demand.axes[d].contains(i)) along += static_cast<double>(((i + 1) * n + m - 1) / m - i * n / m);
        } else if (d >= lead) {
          const auto& pool = attr<PoolAttr>(node);
          const std::size_t k = d - lead;
          along = static_cast<double>(cost_detail::window_pairs(
              {from[d], pool.kernel[k], pool.stride[k], pool.padding[k], pool.dilation[k], false}, demand.axes[d],
              nullptr, nullptr));
        }
        terms *= along;
      }
    }
    return std::max(0.0, terms - demand.count());
  }

  /// Multiplications of a contraction or convolution that meet neither padding nor a structural zero.
  double products(const Node& node, const Demand& demand) const {
    double count = 1;
    if (is<ConvAttr>(node)) {
      const auto& conv = attr<ConvAttr>(node);
      const Extents &x = extents(node.args[0]), &w = extents(node.args[1]);
      count *= static_cast<double>(demand.axes[0].count()) * static_cast<double>(demand.axes[1].count());
      count *= static_cast<double>(x[1] / cost_detail::conv_groups(conv, x, w, demand.axes[1].extent()));
      for (std::size_t d = 0; d + 2 < x.size(); ++d)
        count *= static_cast<double>(
            cost_detail::window_pairs(cost_detail::conv_axis(conv, d, x, w), demand.axes[d + 2], nullptr, nullptr));
    } else {
      const auto& contract = attr<ContractAttr>(node);
      for (const auto& axis : demand.axes) count *= static_cast<double>(axis.count());
      // A summed axis that only one operand has can be added up before multiplying.
      for (std::size_t d = 0; d < contract.lhs.size(); ++d) {
        const int label = contract.lhs[d];
        const bool kept = std::find(contract.out.begin(), contract.out.end(), label) != contract.out.end();
        const bool shared = std::find(contract.rhs.begin(), contract.rhs.end(), label) != contract.rhs.end();
        if (!kept && shared) count *= static_cast<double>(extents(node.args[0])[d]);
      }
    }
    double share =
        demand.density;  // several masks overlap at least in what is left when the rest of each is taken away
    for (const NodeId arg : node.args)
      if (const auto& support = support_[static_cast<std::size_t>(arg)]; support && support->outside == 0)
        share -= 1 - support->density;
    return count * std::max(0.0, share);
  }

  const Graph& graph_;
  const Bindings& bindings_;
  std::vector<Extents> extents_;
  std::vector<bool> structural_, pinned_;
  std::vector<std::optional<Support>> support_;
  std::vector<Demand> demand_;
  std::map<NodeId, Mask> masks_;  // by condition
};

}  // namespace

Result<Cost> cost(const Graph& graph, const Bindings& bindings) {
  const Graph simple = simplify(graph);
  return Accountant(simple, bindings).total();
}

}  // namespace kerf::ir
