// Error bounds of what data chooses: gather, and the indices of the largest.

#include "ir/analysis/error_bound_rewriter.hpp"

namespace kerf::ir::bound {

Traced Rewriter::gather(const Node& n) {
  const Traced &x = traced(n.args[0]), &index = traced(n.args[1]);
  const int axis = attr<GatherAttr>(n).axis;
  const auto chosen = [&](NodeId from) { return a_.take(builder_.gather(from, index.value, axis)); };
  Traced result;
  result.value = chosen(x.value);
  result.representable = x.representable && index.doubt == kNone;
  if (x.bound != kNone) result.bound = chosen(x.bound);
  if (x.doubt != kNone) result.doubt = chosen(x.doubt);
  if (index.doubt == kNone) return result;
  if (is_float(n.dtype))
    result.bound = a_.plus(result.bound, a_.infinite_where(index.doubt));
  else
    result.doubt = a_.either(result.doubt, index.doubt);
  return result;
}

/// An index is in doubt when another element lies so close to the chosen one that their order may turn.
Traced Rewriter::top(const Node& n) {
  const Traced& x = traced(n.args[0]);
  const auto& top = attr<TopAttr>(n);
  const auto axis = static_cast<std::size_t>(top.axis);
  const NodeId value = a_.take(builder_.top(x.value, top.axis, n.shape[axis], top.largest));
  if (x.bound == kNone && x.doubt == kNone) return {value, kNone, kNone, true};
  if (x.bound == kNone) {  // integers, of which some may differ
    const NodeId unsure = a_.take(builder_.reduce(ReduceOp::any, x.doubt, {top.axis}, true));
    return {value, kNone, fit(unsure, n.shape), true};
  }
  // [..., k, 1, ...] against [..., 1, n, ...]: more than one element (the chosen one itself) within reach.
  Shape all = node(n.args[0]).shape, few = n.shape;
  all.insert(all.begin() + top.axis, Dim(1));
  few.insert(few.begin() + top.axis + 1, Dim(1));
  const auto spread = [&](NodeId id, const Shape& shape) { return a_.take(builder_.reshape(id, shape)); };
  const NodeId chosen = a_.take(builder_.gather(x.value, value, top.axis));
  const NodeId chosen_bound = a_.take(builder_.gather(x.bound, value, top.axis));
  const NodeId distance = a_.abs(a_.sub(spread(chosen, few), spread(x.value, all)));
  const NodeId close = a_.near(distance, a_.add(spread(chosen_bound, few), spread(x.bound, all)));
  const NodeId count = a_.take(builder_.reduce(ReduceOp::sum, builder_.cast(close, DType::i64), {top.axis + 1}, false));
  return {value, kNone, a_.less(builder_.constant(1, DType::i64), count), true};
}

}  // namespace kerf::ir::bound
