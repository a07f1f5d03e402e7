#include "ir/analysis/error_bound.hpp"

#include <algorithm>
#include <cmath>

#include "ir/analysis/error_bound_rewriter.hpp"

namespace kerf::ir {
namespace bound {
namespace {

bool same_shape(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

/// Unit round-off of a storage format.
double unit(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x1.0p-11;
    case DType::bf16: return 0x1.0p-8;
    case DType::f32: return 0x1.0p-24;
    default: return 0x1.0p-53;
  }
}

}  // namespace

NodeId Rewriter::fit(NodeId bound, const Shape& shape) {
  if (bound == kNone || same_shape(builder_.node(bound).shape, shape)) return bound;
  return a_.take(builder_.broadcast_to(bound, shape));
}

/// Error of storing `value` in `dtype`: its unit round-off, half a subnormal step, and overflow in the narrow format.
NodeId Rewriter::storage_rounding(NodeId value, DType dtype) {
  const double tiny = dtype == DType::f16 ? 0x1.0p-25 : dtype == DType::f64 ? 0x1.0p-1022 : 0x1.0p-126;
  NodeId size = a_.finite_size(value);
  if (dtype == DType::f16) {  // 65520 and more is stored as infinity; values just below may be computed above it
    const NodeId infinity = a_.number(kInfinity), magnitude = a_.abs(value);
    size = a_.choose(a_.less(magnitude, a_.number(65504)), size,
                     a_.choose(a_.less(magnitude, infinity), infinity, a_.number(0)));
  }
  return a_.add(a_.scale(unit(dtype), size), a_.number(tiny));
}

/// Views and reshapes of a value, a bound or a doubt.
NodeId Rewriter::move_one(const Node& n, NodeId x, bool is_value) {
  if (is<ReshapeAttr>(n)) return a_.take(builder_.reshape(x, n.shape));
  ViewAttr view = attr<ViewAttr>(n);
  if (view.fill && !is_value) view.fill = 0;
  return builder_.view(x, std::move(view), n.shape);
}

Traced Rewriter::moved(const Node& n) {
  const Traced& x = traced(n.args[0]);
  Traced result;
  result.value = move_one(n, x.value, true);
  if (x.bound != kNone) result.bound = move_one(n, x.bound, false);
  if (x.doubt != kNone) result.doubt = move_one(n, x.doubt, false);
  const bool filled = is<ViewAttr>(n) && attr<ViewAttr>(n).fill.has_value();
  const double fill = filled ? *attr<ViewAttr>(n).fill : 0;
  result.representable = x.representable && (fill == 0 || std::isinf(fill));
  return result;
}

Traced Rewriter::concat(const Node& n) {
  const int axis = attr<ConcatAttr>(n).axis;
  Traced result;
  result.representable = true;
  std::vector<NodeId> values, bounds, doubts;
  bool inexact = false, doubtful = false;
  for (const NodeId arg : n.args) {
    const Traced& x = traced(arg);
    values.push_back(x.value);
    bounds.push_back(fit(a_.or_zero(x.bound), node(arg).shape));
    doubts.push_back(fit(x.doubt == kNone ? builder_.constant(0, DType::boolean) : x.doubt, node(arg).shape));
    inexact |= x.bound != kNone;
    doubtful |= x.doubt != kNone;
    result.representable = result.representable && x.representable;
  }
  result.value = a_.take(builder_.concat(values, axis));
  if (inexact) result.bound = a_.take(builder_.concat(bounds, axis));
  if (doubtful) result.doubt = a_.take(builder_.concat(doubts, axis));
  return result;
}

Traced Rewriter::trace(NodeId id) {
  const Node& n = node(id);
  const bool real = is_float(n.dtype);
  if (is<InputAttr>(n)) {
    const NodeId input = inputs_.at(id);
    return {real ? builder_.cast(input, DType::f64) : input, kNone, kNone, true};
  }
  if (is<ConstantAttr>(n)) {
    const double value = attr<ConstantAttr>(n).value;
    const bool small = std::isinf(value) || (value == std::trunc(value) && std::fabs(value) <= 256);
    return {builder_.constant(value, real ? DType::f64 : n.dtype), kNone, kNone, small};
  }
  if (is<IotaAttr>(n))
    return {builder_.iota(attr<IotaAttr>(n).axis, n.shape, real ? DType::f64 : n.dtype), kNone, kNone,
            n.dtype == DType::f32 || n.dtype == DType::f64};
  if (is<MapAttr>(n)) return map(n);
  if (is<ReshapeAttr>(n) || is<ViewAttr>(n)) return moved(n);
  if (is<ConcatAttr>(n)) return concat(n);
  if (is<GatherAttr>(n)) return gather(n);
  if (is<TopAttr>(n)) return top(n);
  if (is<ReduceAttr>(n)) return reduce(n);
  if (is<ScanAttr>(n)) return scan(n);
  if (is<ContractAttr>(n) || is<ConvAttr>(n)) return product_sum(n);
  return pool(n);
}

void Rewriter::write_output(const NamedNode& output) {
  const Node& n = node(output.node);
  const Traced& y = traced(output.node);
  NodeId bound = y.bound;
  if (is_float(n.dtype)) {
    if (a_.model.walk && bound != kNone) bound = a_.scale(kWalkDeviations, bound);
    // Where the working precision is at least as coarse as the storage, its own rounding has been counted already.
    const bool narrowed = unit(n.dtype) > a_.model.rounding || n.dtype == DType::f16 || n.dtype == DType::bf16;
    if (!y.representable && (narrowed || bound == kNone)) bound = a_.plus(bound, storage_rounding(y.value, n.dtype));
    // A bound that is NaN knows nothing; where the value is NaN too, it is certain that it must be one.
    if (bound != kNone)
      bound = a_.choose(a_.is_nan(bound), a_.choose(a_.is_nan(y.value), a_.number(0), a_.number(kInfinity)), bound);
  } else {
    bound = a_.infinite_where(y.doubt);
  }
  builder_.output(output.name, y.value);
  builder_.output(output.name + "!bound", fit(a_.or_zero(bound), n.shape));
}

Result<Graph> Rewriter::rewrite() {
  traced_.reserve(graph_.nodes.size());
  for (const auto& input : graph_.inputs)
    inputs_[input.node] = builder_.input(input.name, node(input.node).dtype, node(input.node).shape);
  for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
    builder_.set_origin(node(id).origin);
    non_negative_.push_back(find_non_negative(node(id)));
    Traced result = trace(id);
    result.bound = fit(result.bound, node(id).shape);
    result.doubt = fit(result.doubt, node(id).shape);
    KERF_TRY_VOID(a_.status);
    traced_.push_back(result);
  }
  builder_.set_origin({});
  for (const auto& output : graph_.outputs) write_output(output);
  KERF_TRY_VOID(a_.status);
  return builder_.take();
}

}  // namespace bound

Result<Graph> with_error_bounds(const Graph& graph, const ErrorModel& model, const std::vector<Bindings>& shape_sets) {
  const Graph simple = simplify(graph);
  return bound::Rewriter(simple, model, shape_sets).rewrite();
}

}  // namespace kerf::ir
