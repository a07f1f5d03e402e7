// Sums over the results of convolutions.

#include <algorithm>

#include "ir/analysis/algebra_rewriter.hpp"

namespace kerf::ir::algebra {
std::optional<NodeId> Rewriter::pushed_into_conv(NodeId id, const Axes& axes) {
  const Node& node = old(id);
  const auto& conv = attr<ConvAttr>(node);
  const std::size_t spatial = node.shape.size() - 2;
  const bool batch = contains(axes, 0), channels = contains(axes, 1);
  const std::size_t positions = axes.size() - (batch ? 1 : 0) - (channels ? 1 : 0);
  if (positions != 0 && positions != spatial) return std::nullopt;
  if (!conv.groups.is_one() && (channels || positions != 0)) return std::nullopt;
  // The sum over what a transposed convolution crops away differs from tap to tap.
  const bool cropped = std::any_of(conv.padding.begin(), conv.padding.end(), [](auto p) { return p != 0; });
  if (conv.transposed && positions != 0 && cropped) return std::nullopt;

  const auto summed = [&](NodeId arg, int axis) {  // keeps the axis with extent 1
    Shape shape = old(arg).shape;
    shape[static_cast<std::size_t>(axis)] = 1;
    return reshape(sum(arg, {axis}), shape);
  };
  const NodeId x = batch ? summed(node.args[0], 0) : done(node.args[0]);
  const NodeId w = channels ? summed(node.args[1], conv.transposed ? 1 : 0) : done(node.args[1]);
  Shape shape = node.shape;
  if (batch) shape[0] = 1;
  if (channels) shape[1] = 1;
  NodeId result = -1;
  if (positions == 0) {
    result = add(Node{conv, node.dtype, shape, {x, w}, {}});
  } else {
    result = positions_summed(node, x, w);
  }
  Shape kept;
  for (std::size_t d = 0; d < node.shape.size(); ++d)
    if (!contains(axes, static_cast<int>(d))) kept.push_back(node.shape[d]);
  return reshape(result, kept);
}

/// [batch, out channels]: each weight meets the sum of all inputs it is multiplied with.
NodeId Rewriter::positions_summed(const Node& node, NodeId x, NodeId w) {
  const auto& conv = attr<ConvAttr>(node);
  const std::size_t spatial = node.shape.size() - 2;
  const Shape from = made(x).shape, weight = made(w).shape;
  if (conv.transposed) {
    Axes all;
    for (std::size_t d = 0; d < spatial; ++d) all.push_back(static_cast<int>(d) + 2);
    const NodeId total = reduce(ReduceOp::sum, x, all), taps = reduce(ReduceOp::sum, w, all);
    return contract(total, taps, {{0, 1}, {1, 2}, {0, 2}}, node.dtype, {from[0], weight[1]});
  }
  // [batch, channels, taps..., positions...] of the padded input, then without the positions.
  ViewAttr window;
  Shape shape{from[0], from[1]};
  window.axes.push_back({0, {{0, 1}}, {}});
  window.axes.push_back({0, {{1, 1}}, {}});
  Axes positions;
  for (std::size_t d = 0; d < spatial; ++d) {
    const int tap = static_cast<int>(2 + d), position = static_cast<int>(2 + spatial + d);
    window.axes.push_back({Dim(-conv.padding[d]), {{tap, conv.dilation[d]}, {position, conv.stride[d]}}, {}});
    if (conv.padding[d] != 0) window.fill = 0;
    positions.push_back(position);
    shape.push_back(weight[2 + d]);
  }
  for (std::size_t d = 0; d < spatial; ++d) shape.push_back(node.shape[2 + d]);
  const NodeId sums = reduce(ReduceOp::sum, view(x, std::move(window), std::move(shape)), positions);
  ContractAttr labels{{0, 1}, {2, 1}, {0, 2}};
  for (std::size_t d = 0; d < spatial; ++d) {
    labels.lhs.push_back(static_cast<int>(3 + d));
    labels.rhs.push_back(static_cast<int>(3 + d));
  }
  return contract(sums, w, labels, node.dtype, {from[0], weight[0]});
}

/// A pooling of a pooling whose windows neither overlap nor leave gaps is one pooling with larger windows.
std::optional<NodeId> Rewriter::chained_pool(const Node& outer) {
  const Node& inner = old(outer.args[0]);
  if (!is<PoolAttr>(inner) || !only_use(outer.args[0])) return std::nullopt;
  const auto& second = attr<PoolAttr>(outer);
  const auto& first = attr<PoolAttr>(inner);
  const std::size_t spatial = first.kernel.size();
  if (first.op != second.op || second.kernel.size() != spatial) return std::nullopt;
  const auto inside = [&](const PoolAttr& pool, const Node& node, std::size_t d) {  // every window, and no padding
    const Shape& source = old(node.args[0]).shape;
    const std::size_t axis = source.size() - spatial + d;
    return pool.padding[d] == 0 && pool.dilation[d] == 1 &&
           node.shape[axis] == floor_div(source[axis] - Dim(pool.kernel[d]), Dim(pool.stride[d])) + Dim(1);
  };
  PoolAttr both = second;
  for (std::size_t d = 0; d < spatial; ++d) {
    if (first.stride[d] != first.kernel[d] || !inside(first, inner, d) || !inside(second, outer, d))
      return std::nullopt;
    both.kernel[d] = second.kernel[d] * first.kernel[d];
    both.stride[d] = second.stride[d] * first.stride[d];
  }
  return add(Node{std::move(both), outer.dtype, outer.shape, {done(inner.args[0])}, {}});
}

/// The sum over windows of an old node, where a convolution below takes it over.
std::optional<NodeId> Rewriter::pushed_pool(NodeId id, const PoolAttr& pool, const Shape& shape) {
  const Node& node = old(id);
  if (pool.op != PoolOp::sum || !is_float(node.dtype) || !only_use(id)) return std::nullopt;
  const std::size_t spatial = pool.kernel.size(), lead = node.shape.size() - spatial;
  std::int64_t window = 1;
  Axes axes;
  for (std::size_t d = 0; d < spatial; ++d) {
    // Every window lies inside: no padding, and the floor of the division gives the extent.
    const Dim slack = node.shape[lead + d] - Dim(pool.dilation[d] * (pool.kernel[d] - 1)) - Dim(1);
    if (pool.padding[d] != 0 || !(shape[lead + d] == floor_div(slack, Dim(pool.stride[d])) + Dim(1)))
      return std::nullopt;
    window *= pool.kernel[d];
    axes.push_back(static_cast<int>(lead + d));
  }
  if (is<ConvAttr>(node)) {
    const auto& conv = attr<ConvAttr>(node);
    if (conv.transposed || node.shape.size() != spatial + 2) return std::nullopt;
    double before = 1, after = 1;  // products per result of the pooling, when its windows do not overlap much
    for (std::size_t d = 0; d < spatial; ++d) {
      const Dim& taps = old(node.args[1]).shape[2 + d];
      const std::int64_t step = conv.stride[d] * pool.dilation[d];
      if (conv.dilation[d] != 1 || !taps.is_constant() || taps.constant() < step) return std::nullopt;  // gaps
      before *= static_cast<double>(taps.constant() * pool.stride[d]);
      after *= static_cast<double>(taps.constant() + step * (pool.kernel[d] - 1));
    }
    if (after >= before) return std::nullopt;
    return pooled_conv(id, pool, shape);
  }
  if (!is<MapAttr>(node)) return std::nullopt;
  const MapOp op = attr<MapAttr>(node).op;
  const auto same_shape = [&](NodeId arg) {
    const Shape& own = old(arg).shape;
    return std::equal(own.begin(), own.end(), node.shape.begin(), node.shape.end());
  };
  if (op == MapOp::neg) {
    const auto inner = pushed_pool(node.args[0], pool, shape);
    return inner ? std::optional(map(op, {*inner})) : std::nullopt;
  }
  if (op != MapOp::add && op != MapOp::sub && op != MapOp::mul && op != MapOp::div) return std::nullopt;
  for (const std::size_t other : {std::size_t{1}, std::size_t{0}}) {
    const NodeId x = node.args[1 - other], level = node.args[other];
    if (!same_shape(x) || varies(level, node, axes) || (op == MapOp::div && other == 0)) continue;
    const auto inner = pushed_pool(x, pool, shape);
    if (!inner) continue;
    NodeId constant = done(level);
    if (op == MapOp::add || op == MapOp::sub) constant = map(MapOp::mul, {constant, count(Dim(window), node.dtype)});
    return other == 1 ? map(op, {*inner, constant}) : map(op, {constant, *inner});
  }
  return std::nullopt;
}

/// sum_m sum_k x[s*(t*j + e*m) + k] w[k] is a convolution with stride s*t and the kernel W[q] = sum_m w[q - s*e*m].
NodeId Rewriter::pooled_conv(NodeId id, const PoolAttr& pool, const Shape& shape) {
  const Node& node = old(id);
  ConvAttr wide = attr<ConvAttr>(node);
  const NodeId w = done(node.args[1]);
  const std::size_t spatial = pool.kernel.size();
  ViewAttr shifted;
  Shape taps{made(w).shape[0], made(w).shape[1]};
  shifted.axes.push_back({0, {{0, 1}}, {}});
  shifted.axes.push_back({0, {{1, 1}}, {}});
  shifted.fill = 0;
  Axes shifts;
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t step = wide.stride[d] * pool.dilation[d];
    const int tap = static_cast<int>(2 + d), shift = static_cast<int>(2 + spatial + d);
    shifted.axes.push_back({0, {{tap, 1}, {shift, -step}}, {}});
    taps.push_back(made(w).shape[2 + d] + Dim(step * (pool.kernel[d] - 1)));
    shifts.push_back(shift);
    wide.stride[d] *= pool.stride[d];
  }
  for (const auto extent : pool.kernel) taps.emplace_back(extent);
  const NodeId kernel = reduce(ReduceOp::sum, view(w, std::move(shifted), std::move(taps)), shifts);
  return add(Node{std::move(wide), node.dtype, shape, {done(node.args[0]), kernel}, {}});
}

}  // namespace kerf::ir::algebra
