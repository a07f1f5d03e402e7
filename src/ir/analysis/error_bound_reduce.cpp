// Error bounds of reductions, scans, contractions, convolutions and pooling.

#include <algorithm>
#include <cmath>

#include "ir/analysis/error_bound_rewriter.hpp"

namespace kerf::ir::bound {

/// An extent as a number in the graph: the last element of 0, 1, ..., dim.
NodeId Rewriter::count(const Dim& dim) {
  if (dim.is_constant()) return a_.number(static_cast<double>(dim.constant()));
  const NodeId steps = builder_.iota(0, {dim + Dim(1)}, DType::f64);
  return builder_.view(steps, {{{dim, {}, {}}}, {}}, {});
}

NodeId Rewriter::growth(const Dim& terms) {
  return a_.add(a_.scale(a_.model.accumulate / 2, a_.sqrt(count(terms))), a_.number(a_.model.accumulate));
}

/// growth * sum|x| for a sum that came out as `result`. An infinite result is exact; a sum near the end of the number
/// format may overflow on the way.
NodeId Rewriter::accumulated(NodeId result, NodeId sum_of_sizes, NodeId growth) {
  const NodeId infinity = a_.number(kInfinity);
  const NodeId spread = a_.add(a_.mul(sum_of_sizes, growth), a_.number(a_.model.tiny));
  const NodeId safe = a_.choose(a_.less(sum_of_sizes, a_.number(a_.largest())), spread, infinity);
  return a_.choose(a_.less(a_.abs(result), infinity), safe, a_.number(0));
}

/// Squares of errors of doubles stay within doubles: results near the end of the number format are excluded.
NodeId Rewriter::walked(NodeId result, NodeId squares, NodeId growth) {
  const NodeId infinity = a_.number(kInfinity), size = a_.abs(result);
  const NodeId spread = a_.sqrt(a_.add(squares, a_.square(a_.mul(result, growth))));
  const NodeId safe =
      a_.choose(a_.less(size, a_.number(a_.largest())), a_.add(spread, a_.number(a_.model.tiny)), infinity);
  return a_.choose(a_.less(size, infinity), safe, a_.number(0));
}

NodeId Rewriter::sum_bound(const Traced& x, bool non_negative, NodeId result, NodeId growth,
                           const std::function<NodeId(NodeId)>& total) {
  if (a_.model.walk) {
    NodeId squares = a_.mul(total(a_.square(x.value)), a_.square(growth));
    if (x.bound != kNone) squares = a_.add(squares, total(a_.square(x.bound)));
    return walked(result, squares, growth);
  }
  const NodeId sizes = non_negative ? result : total(a_.abs(x.value));
  const NodeId own = accumulated(result, sizes, growth);
  return x.bound == kNone ? own : a_.add(own, total(x.bound));
}

NodeId Rewriter::many_factors_bound(const Traced& x, NodeId result, NodeId growth,
                                    const std::function<NodeId(NodeId)>& total) {
  NodeId relative = a_.scale(2, growth);
  if (x.bound != kNone) {
    const NodeId each = a_.relative(a_.abs(x.value), x.bound);
    relative = a_.join(relative, a_.model.walk ? a_.sqrt(total(a_.square(each))) : total(each));
  }
  return a_.add(a_.mul(a_.size(result), relative), a_.number(a_.model.tiny));
}

/// Saves summing the sizes of what is summed already.
bool Rewriter::find_non_negative(const Node& n) const {
  if (is<ConstantAttr>(n)) return attr<ConstantAttr>(n).value >= 0;
  if (is<IotaAttr>(n)) return true;
  if (is<ReshapeAttr>(n) || (is<ViewAttr>(n) && !attr<ViewAttr>(n).fill)) return is_non_negative(n.args[0]);
  if (!is<MapAttr>(n)) return false;
  if (facts_of(attr<MapAttr>(n).op).non_negative) return true;
  switch (attr<MapAttr>(n).op) {
    case MapOp::mul: return n.args[0] == n.args[1] || (is_non_negative(n.args[0]) && is_non_negative(n.args[1]));
    case MapOp::maximum: return is_non_negative(n.args[0]) || is_non_negative(n.args[1]);
    case MapOp::div: return is_non_negative(n.args[0]) && is_non_negative(n.args[1]);
    default: return false;
  }
}

Traced Rewriter::reduce(const Node& n) {
  const auto& attributes = attr<ReduceAttr>(n);
  const Traced& x = traced(n.args[0]);
  const auto over = [&](ReduceOp op, NodeId id) {
    return a_.take(builder_.reduce(op, id, attributes.axes, attributes.keepdims));
  };
  if (attributes.op == ReduceOp::argmax || attributes.op == ReduceOp::argmin) return arg_reduce(n);
  if (attributes.op == ReduceOp::any || attributes.op == ReduceOp::all) return logical_reduce(n);
  const NodeId value = over(attributes.op, x.value);
  if (!is_float(n.dtype)) return {value, kNone, x.doubt == kNone ? kNone : over(ReduceOp::any, x.doubt), true};
  Shape reduced;
  for (const int axis : attributes.axes) reduced.push_back(node(n.args[0]).shape[static_cast<std::size_t>(axis)]);
  const Dim terms = element_count(reduced);
  const auto total = [&](NodeId id) { return over(ReduceOp::sum, id); };
  if (attributes.op == ReduceOp::sum)
    return {value, sum_bound(x, is_non_negative(n.args[0]), value, growth(terms), total), kNone, false};
  if (attributes.op == ReduceOp::prod) return {value, many_factors_bound(x, value, growth(terms), total), kNone, false};
  if (x.bound == kNone) return {value, kNone, kNone, x.representable};
  const NodeId worst = over(ReduceOp::max, x.bound);
  return {value, a_.choose(a_.is_nan(value), a_.number(kInfinity), worst), kNone, false};
}

/// In doubt when a second element is as close to the extreme as the bounds are wide, or when there is a NaN.
Traced Rewriter::arg_reduce(const Node& n) {
  const auto& attributes = attr<ReduceAttr>(n);
  const NodeId arg = n.args[0];
  const Traced& x = traced(arg);
  const auto over = [&](ReduceOp op, NodeId id, bool keepdims) {
    return a_.take(builder_.reduce(op, id, attributes.axes, keepdims));
  };
  const NodeId value = over(attributes.op, x.value, attributes.keepdims);
  if (!is_float(node(arg).dtype))
    return {value, kNone, x.doubt == kNone ? kNone : over(ReduceOp::any, x.doubt, attributes.keepdims), true};
  const bool high = attributes.op == ReduceOp::argmax;
  const auto extreme = [&](bool keepdims) { return over(high ? ReduceOp::max : ReduceOp::min, x.value, keepdims); };
  NodeId doubt = a_.is_nan(extreme(attributes.keepdims));
  if (x.bound != kNone) {
    const NodeId best = extreme(true);
    const NodeId distance = high ? a_.sub(best, x.value) : a_.sub(x.value, best);
    const NodeId slack = a_.add(x.bound, over(ReduceOp::max, x.bound, true));
    const NodeId rivals = over(ReduceOp::sum, builder_.cast(a_.near(distance, slack), DType::i64), attributes.keepdims);
    doubt = a_.either(doubt, a_.less(builder_.constant(1, DType::i64), rivals));
  }
  return {value, kNone, doubt, true};
}

/// A certain true decides `any`, a certain false decides `all`, whatever the doubtful elements are.
Traced Rewriter::logical_reduce(const Node& n) {
  const auto& attributes = attr<ReduceAttr>(n);
  const Traced& x = traced(n.args[0]);
  const auto over = [&](ReduceOp op, NodeId id) {
    return a_.take(builder_.reduce(op, id, attributes.axes, attributes.keepdims));
  };
  const NodeId value = over(attributes.op, x.value);
  if (x.doubt == kNone) return {value, kNone, kNone, true};
  const NodeId deciding = attributes.op == ReduceOp::any ? x.value : a_.negate(x.value);
  const NodeId decided = over(ReduceOp::any, a_.both(deciding, a_.negate(x.doubt)));
  return {value, kNone, a_.both(over(ReduceOp::any, x.doubt), a_.negate(decided)), true};
}

Traced Rewriter::scan(const Node& n) {
  const auto& attributes = attr<ScanAttr>(n);
  const Traced& x = traced(n.args[0]);
  const auto along = [&](ScanOp op, NodeId id) {
    return a_.take(builder_.scan({op, attributes.axis, attributes.exclusive, attributes.reverse}, id));
  };
  const NodeId value = along(attributes.op, x.value);
  if (!is_float(n.dtype)) {
    if (x.doubt == kNone) return {value, kNone, kNone, true};
    const NodeId doubts = along(ScanOp::sum, builder_.cast(x.doubt, DType::i64));
    return {value, kNone, a_.less(builder_.constant(0, DType::i64), doubts), true};
  }
  if (attributes.op == ScanOp::max || attributes.op == ScanOp::min) {
    if (x.bound == kNone) return {value, kNone, kNone, x.representable};
    NodeId worst = along(ScanOp::max, x.bound);
    if (attributes.exclusive) worst = a_.larger(worst, a_.number(0));  // it starts with -inf
    return {value, a_.choose(a_.is_nan(value), a_.number(kInfinity), worst), kNone, false};
  }
  // Terms added up so far, as a vector along the axis.
  const auto axis = static_cast<std::size_t>(attributes.axis);
  Shape line(n.shape.size(), Dim(1));
  line[axis] = n.shape[axis];
  NodeId position = builder_.iota(attributes.axis, line, DType::f64);
  if (attributes.reverse) position = a_.sub(count(n.shape[axis] - Dim(1)), position);
  const NodeId steps = a_.sqrt(a_.add(position, a_.number(1)));
  const NodeId growth = a_.add(a_.scale(a_.model.accumulate / 2, steps), a_.number(a_.model.accumulate));
  const auto total = [&](NodeId id) { return along(ScanOp::sum, id); };
  if (attributes.op == ScanOp::sum)
    return {value, sum_bound(x, is_non_negative(n.args[0]), value, growth, total), kNone, false};
  return {value, many_factors_bound(x, value, growth, total), kNone, false};
}

Traced Rewriter::product_sum(const Node& n) {
  const Traced &x = traced(n.args[0]), &y = traced(n.args[1]);
  const auto combine = [&](NodeId lhs, NodeId rhs) {
    return is<ConvAttr>(n) ? a_.take(builder_.conv(lhs, rhs, attr<ConvAttr>(n)))
                           : a_.take(builder_.contract(lhs, rhs, attr<ContractAttr>(n)));
  };
  const NodeId value = combine(x.value, y.value);
  if (!is_float(n.dtype)) {
    if (x.doubt == kNone && y.doubt == kNone) return {value, kNone, kNone, true};
    const auto doubts = [&](NodeId arg) {
      const NodeId doubt = traced(arg).doubt;
      return doubt == kNone ? fit(builder_.constant(0, DType::i64), node(arg).shape) : builder_.cast(doubt, DType::i64);
    };
    const auto ones = [&](NodeId arg) { return fit(builder_.constant(1, DType::i64), node(arg).shape); };
    const NodeId total =
        a_.add(combine(doubts(n.args[0]), ones(n.args[1])), combine(ones(n.args[0]), doubts(n.args[1])));
    return {value, kNone, a_.less(builder_.constant(0, DType::i64), total), true};
  }
  Dim terms = 1;
  const Shape &x_shape = node(n.args[0]).shape, &y_shape = node(n.args[1]).shape;
  if (is<ConvAttr>(n)) {
    const auto& conv = attr<ConvAttr>(n);
    terms = conv.transposed ? floor_div(y_shape[0], conv.groups) : y_shape[1];
    for (std::size_t d = 2; d < y_shape.size(); ++d) terms = terms * y_shape[d];
  } else {
    const auto& contract = attr<ContractAttr>(n);
    std::vector<int> seen = contract.out;
    const auto collect = [&](const std::vector<int>& labels, const Shape& shape) {
      for (std::size_t d = 0; d < labels.size(); ++d) {
        if (std::find(seen.begin(), seen.end(), labels[d]) != seen.end()) continue;
        seen.push_back(labels[d]);
        terms = terms * shape[d];
      }
    };
    collect(contract.lhs, x_shape);
    collect(contract.rhs, y_shape);
  }
  if (a_.model.walk) return {value, walked_products(x, y, value, growth(terms), combine), kNone, false};
  // |a||b| * (growth + 2 * operand) + bound(a)|b| + |a|bound(b), in as few products as possible.
  const NodeId own = a_.add(growth(terms), a_.number(2 * a_.model.operand));
  const NodeId x_size = a_.abs(x.value), y_size = a_.abs(y.value), infinity = a_.number(kInfinity);
  const NodeId x_error = a_.plus(a_.mul(x_size, own), x.bound);
  const bool second = y.bound != kNone && x.bound == kNone;  // then the bound of y joins the one product
  NodeId spread = second ? combine(x_size, a_.add(a_.mul(y_size, own), y.bound)) : combine(x_error, y_size);
  if (y.bound != kNone && !second) spread = a_.add(spread, combine(a_.add(x_size, x.bound), y.bound));
  const NodeId size = a_.abs(value);
  const NodeId safe =
      a_.choose(a_.less(size, a_.number(a_.largest())), a_.add(spread, a_.number(a_.model.tiny)), infinity);
  return {value, a_.choose(a_.less(size, infinity), safe, a_.number(0)), kNone, false};
}

/// (a b)^2 (growth^2 + 2 operand^2) + (bound(a) b)^2 + (a bound(b))^2 + (bound(a) bound(b))^2, in as few products as
/// possible.
NodeId Rewriter::walked_products(const Traced& x, const Traced& y, NodeId value, NodeId growth,
                                 const std::function<NodeId(NodeId, NodeId)>& combine) {
  const NodeId own = a_.add(a_.square(growth), a_.number(2 * a_.model.operand * a_.model.operand));
  const NodeId x_square = a_.square(x.value), y_square = a_.square(y.value);
  const auto with = [&](NodeId square, NodeId bound) {
    return bound == kNone ? square : a_.add(square, a_.square(bound));
  };
  const bool second = y.bound != kNone && x.bound == kNone;  // then the bound of y joins the one product
  NodeId squares = second ? combine(x_square, with(a_.mul(y_square, own), y.bound))
                          : combine(with(a_.mul(x_square, own), x.bound), y_square);
  if (y.bound != kNone && !second) squares = a_.add(squares, combine(with(x_square, x.bound), a_.square(y.bound)));
  return walked(value, squares, growth);
}

NodeId Rewriter::apply_pool(const Node& n, NodeId x, PoolOp op) {
  if (is<AdaptivePoolAttr>(n)) {
    const auto rank = static_cast<std::ptrdiff_t>(attr<AdaptivePoolAttr>(n).rank);
    return a_.take(builder_.adaptive_pool(op, x, {n.shape.end() - rank, n.shape.end()}));
  }
  PoolAttr attributes = attr<PoolAttr>(n);
  attributes.op = op;
  const NodeId pooled = a_.take(builder_.pool(x, attributes, false));
  const Shape& shape = builder_.node(pooled).shape;
  const bool same = a_.status && std::equal(shape.begin(), shape.end(), n.shape.begin(), n.shape.end());
  return same ? pooled : a_.take(builder_.pool(x, attributes, true));
}

Traced Rewriter::pool(const Node& n) {
  const NodeId arg = n.args[0];
  const Traced& x = traced(arg);
  const PoolOp op = is<PoolAttr>(n) ? attr<PoolAttr>(n).op : attr<AdaptivePoolAttr>(n).op;
  const NodeId value = apply_pool(n, x.value, op);
  if (!is_float(n.dtype)) {
    if (x.doubt == kNone) return {value, kNone, kNone, true};
    const NodeId doubts = apply_pool(n, builder_.cast(x.doubt, DType::i64), PoolOp::sum);
    return {value, kNone, a_.less(builder_.constant(0, DType::i64), doubts), true};
  }
  if (op == PoolOp::max) {
    if (x.bound == kNone) return {value, kNone, kNone, x.representable};
    const NodeId worst = apply_pool(n, x.bound, PoolOp::max);
    return {value, a_.choose(a_.is_nan(value), a_.number(kInfinity), worst), kNone, false};
  }
  Dim terms = 1;
  if (is<PoolAttr>(n)) {
    for (const auto extent : attr<PoolAttr>(n).kernel) terms = terms * Dim(extent);
  } else {
    const Shape& from = node(arg).shape;
    const std::size_t lead = from.size() - static_cast<std::size_t>(attr<AdaptivePoolAttr>(n).rank);
    for (std::size_t d = lead; d < from.size(); ++d) terms = terms * (ceil_div(from[d], n.shape[d]) + Dim(1));
  }
  const auto total = [&](NodeId id) { return apply_pool(n, id, PoolOp::sum); };
  return {value, sum_bound(x, is_non_negative(arg), value, growth(terms), total), kNone, false};
}

}  // namespace kerf::ir::bound
