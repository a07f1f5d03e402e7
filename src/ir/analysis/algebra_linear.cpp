// Sums move towards the inputs, factors towards the outputs.

#include <algorithm>

#include "ir/analysis/algebra_rewriter.hpp"

namespace kerf::ir::algebra {
namespace {

/// The axes of an argument that lie under `axes` of its user (shapes are aligned right).
Axes own_axes(const Node& arg, const Node& user, const Axes& axes) {
  const int lead = static_cast<int>(user.shape.size() - arg.shape.size());
  Axes own;
  for (const int axis : axes)
    if (axis >= lead) own.push_back(axis - lead);
  return own;
}

}  // namespace

NodeId Rewriter::sum(NodeId id, const Axes& axes) { return axes.empty() ? done(id) : reduced(ReduceOp::sum, id, axes); }

std::optional<NodeId> Rewriter::pushed_sum(NodeId id, const Axes& axes) {
  const Node& node = old(id);
  if (!is_float(node.dtype) || !only_use(id)) return std::nullopt;  // needed element by element anyway
  if (is<MapAttr>(node)) return pushed_through_map(id, axes);
  if (is<ViewAttr>(node)) return pushed_through_view(id, axes);
  if (is<ReshapeAttr>(node)) return pushed_through_reshape(id, axes);
  if (is<ContractAttr>(node)) return pushed_into_contract(id, axes);
  if (is<ConvAttr>(node)) return pushed_into_conv(id, axes);
  return std::nullopt;
}

bool Rewriter::varies(NodeId arg, const Node& user, const Axes& axes) const {
  const Node& node = old(arg);
  const Axes own = own_axes(node, user, axes);
  return std::any_of(own.begin(), own.end(), [&](int d) { return !node.shape[static_cast<std::size_t>(d)].is_one(); });
}

NodeId Rewriter::without(NodeId arg, const Node& user, const Axes& axes) {
  const Axes own = own_axes(old(arg), user, axes);
  Shape shape;
  for (std::size_t d = 0; d < old(arg).shape.size(); ++d)
    if (!contains(own, static_cast<int>(d))) shape.push_back(old(arg).shape[d]);
  return reshape(done(arg), shape);
}

/// The sum over `axes` of `user` of an argument as it is stretched to the user's shape.
Rewriter::Part Rewriter::sum_of_argument(NodeId arg, const Node& user, const Axes& axes) {
  const Node& node = old(arg);
  const int lead = static_cast<int>(user.shape.size() - node.shape.size());
  Axes varying, single;  // of the argument
  Part part;
  std::vector<Dim> stretched;
  for (const int axis : axes) {
    const int own = axis - lead;
    const bool narrow = own < 0 || node.shape[static_cast<std::size_t>(own)].is_one();
    if (narrow && !user.shape[static_cast<std::size_t>(axis)].is_one())
      stretched.push_back(user.shape[static_cast<std::size_t>(axis)]);
    if (own >= 0) (narrow ? single : varying).push_back(own);
  }
  if (varying.empty()) {
    part.node = without(arg, user, axes);
  } else {
    const auto pushed = single.empty() ? pushed_sum(arg, varying) : std::nullopt;
    part.gained = pushed.has_value();
    part.node = pushed ? *pushed : reduced_as_is(ReduceOp::sum, arg, varying);
    Shape shape;
    for (std::size_t d = 0; d < node.shape.size(); ++d)
      if (!contains(varying, static_cast<int>(d)) && !contains(single, static_cast<int>(d)))
        shape.push_back(node.shape[d]);
    part.node = reshape(part.node, shape);
  }
  for (const Dim& extent : stretched) {
    part.node = map(MapOp::mul, {part.node, count(extent, node.dtype)});
    part.gained = true;
  }
  return part;
}

std::optional<NodeId> Rewriter::pushed_through_map(NodeId id, const Axes& axes) {
  const Node& node = old(id);
  const MapOp op = attr<MapAttr>(node).op;
  if (op == MapOp::neg) return map(op, {sum(node.args[0], axes)});
  if (op == MapOp::add || op == MapOp::sub) {
    const Part a = sum_of_argument(node.args[0], node, axes), b = sum_of_argument(node.args[1], node, axes);
    if (!a.gained && !b.gained) return std::nullopt;
    return map(op, {a.node, b.node});
  }
  if (op != MapOp::mul && op != MapOp::div) return std::nullopt;
  for (const std::size_t factor : {std::size_t{1}, std::size_t{0}}) {
    if ((op == MapOp::div && factor == 0) || varies(node.args[factor], node, axes)) continue;
    const Part rest = sum_of_argument(node.args[1 - factor], node, axes);
    return map(op, {rest.node, without(node.args[factor], node, axes)});
  }
  return std::nullopt;
}

std::optional<NodeId> Rewriter::pushed_through_view(NodeId id, const Axes& axes) {
  const Node& node = old(id);
  const NodeId source = node.args[0];
  const auto from = simple_view(node, old(source));
  if (!from) return std::nullopt;
  Axes inner;
  for (std::size_t d = 0; d < from->size(); ++d)
    if (contains(axes, (*from)[d])) inner.push_back(static_cast<int>(d));
  std::vector<Dim> stretched;
  for (const int axis : axes)
    if (!contains(*from, axis)) stretched.push_back(node.shape[static_cast<std::size_t>(axis)]);
  // What is left of the view: stretching along an axis that stays keeps it alive.
  for (int d = 0; d < static_cast<int>(node.shape.size()); ++d)
    if (!contains(*from, d) && !contains(axes, d)) return std::nullopt;
  const auto pushed = inner.empty() ? std::nullopt : pushed_sum(source, inner);
  if (!pushed && stretched.empty()) return std::nullopt;
  NodeId result = pushed ? *pushed : reduced_as_is(ReduceOp::sum, source, inner);
  Shape kept;
  std::vector<int> rank;  // for each axis that stays, in the order of the source: its axis in the view
  for (std::size_t d = 0; d < from->size(); ++d) {
    if ((*from)[d] < 0 || contains(axes, (*from)[d])) continue;
    kept.push_back(old(source).shape[d]);
    rank.push_back((*from)[d]);
  }
  result = reshape(result, kept);
  std::vector<int> order = rank;  // axis of the result that comes first in the view, second, ...
  std::sort(order.begin(), order.end());
  for (int& axis : order) axis = static_cast<int>(std::find(rank.begin(), rank.end(), axis) - rank.begin());
  result = transpose(result, order);
  for (const Dim& extent : stretched) result = map(MapOp::mul, {result, count(extent, node.dtype)});
  return result;
}

std::optional<NodeId> Rewriter::pushed_through_reshape(NodeId id, const Axes& axes) {
  const Node& node = old(id);
  const Node& source = old(node.args[0]);
  if (axes.size() == node.shape.size()) {  // all of it: the order does not matter
    Axes all;
    for (int d = 0; d < static_cast<int>(source.shape.size()); ++d) all.push_back(d);
    return all.empty() ? std::nullopt : pushed_sum(node.args[0], all);
  }
  // Axes of extent 1 that come or go.
  Axes inner;
  std::size_t d = 0;
  for (std::size_t s = 0; s < source.shape.size(); ++s) {
    while (d < node.shape.size() && !(node.shape[d] == source.shape[s]) && node.shape[d].is_one()) ++d;
    if (d < node.shape.size() && node.shape[d] == source.shape[s]) {
      if (contains(axes, static_cast<int>(d))) inner.push_back(static_cast<int>(s));
      ++d;
    } else if (!source.shape[s].is_one()) {
      return std::nullopt;
    }
  }
  for (; d < node.shape.size(); ++d)
    if (!node.shape[d].is_one()) return std::nullopt;
  if (inner.empty()) return std::nullopt;
  const auto pushed = pushed_sum(node.args[0], inner);
  if (!pushed) return std::nullopt;
  Shape shape;
  for (std::size_t k = 0; k < node.shape.size(); ++k)
    if (!contains(axes, static_cast<int>(k))) shape.push_back(node.shape[k]);
  return reshape(*pushed, shape);
}

std::optional<NodeId> Rewriter::pushed_into_contract(NodeId id, const Axes& axes) {
  const Node& node = old(id);
  const auto& from = attr<ContractAttr>(node);
  std::vector<int> out;
  Shape shape;
  for (std::size_t d = 0; d < from.out.size(); ++d) {
    if (contains(axes, static_cast<int>(d))) continue;
    out.push_back(from.out[d]);
    shape.push_back(node.shape[d]);
  }
  const auto operand = [&](NodeId arg, const std::vector<int>& own, const std::vector<int>& other,
                           std::vector<int>& labels) {
    Axes lonely;
    for (std::size_t d = 0; d < own.size(); ++d) {
      if (contains(out, own[d]) || contains(other, own[d]))
        labels.push_back(own[d]);
      else
        lonely.push_back(static_cast<int>(d));
    }
    return sum(arg, lonely);
  };
  ContractAttr labels;
  labels.out = out;
  const NodeId lhs = operand(node.args[0], from.lhs, from.rhs, labels.lhs);
  const NodeId rhs = operand(node.args[1], from.rhs, from.lhs, labels.rhs);
  return contract(lhs, rhs, labels, node.dtype, std::move(shape));
}

std::optional<NodeId> Rewriter::pushed_extreme(ReduceOp op, NodeId id, const Axes& axes) {
  const Node& node = old(id);
  if ((op != ReduceOp::max && op != ReduceOp::min) || !is<MapAttr>(node) || !only_use(id)) return std::nullopt;
  const MapOp how = attr<MapAttr>(node).op;
  const ReduceOp opposite = op == ReduceOp::max ? ReduceOp::min : ReduceOp::max;
  if (how == MapOp::neg) return map(how, {reduced(opposite, node.args[0], axes)});
  if (how != MapOp::add && how != MapOp::sub && how != MapOp::mul && how != MapOp::div) return std::nullopt;
  for (const std::size_t other : {std::size_t{1}, std::size_t{0}}) {
    const NodeId x = node.args[1 - other], shift = node.args[other];
    const Shape& from = old(x).shape;
    if (!std::equal(from.begin(), from.end(), node.shape.begin(), node.shape.end()) || varies(shift, node, axes))
      continue;
    if (how == MapOp::add || (how == MapOp::sub && other == 1))
      return map(how, {reduced(op, x, axes), without(shift, node, axes)});
    if (how == MapOp::sub) return map(how, {without(shift, node, axes), reduced(opposite, x, axes)});
    if (how == MapOp::div && other == 0) continue;
    if (!is<ConstantAttr>(old(shift))) continue;
    const double factor = attr<ConstantAttr>(old(shift)).value;
    if (!(factor > 0 || factor < 0)) continue;
    return map(how, {reduced(factor > 0 ? op : opposite, x, axes), done(shift)});
  }
  return std::nullopt;
}

/// `id` without the scalars it is multiplied with or divided by.
Rewriter::Scaled Rewriter::unscaled(NodeId id) const {
  Scaled result{id, {}};
  while (is<MapAttr>(old(result.node)) && only_use(result.node)) {
    const Node& node = old(result.node);
    const MapOp op = attr<MapAttr>(node).op;
    const auto scalar = [&](std::size_t which) {
      return old(node.args[which]).shape.empty() && !old(node.args[1 - which]).shape.empty();
    };
    if (op == MapOp::neg) {
      result.steps.push_back({op, -1});
      result.node = node.args[0];
    } else if ((op == MapOp::mul || op == MapOp::div) && scalar(1)) {
      result.steps.push_back({op, done(node.args[1])});
      result.node = node.args[0];
    } else if (op == MapOp::mul && scalar(0)) {
      result.steps.push_back({op, done(node.args[0])});
      result.node = node.args[1];
    } else {
      break;
    }
  }
  return result;
}

}  // namespace kerf::ir::algebra
