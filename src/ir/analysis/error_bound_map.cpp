// Error bounds of elementwise operators.

#include <cmath>

#include "ir/analysis/error_bound_rewriter.hpp"

namespace kerf::ir::bound {
namespace {

// Unit round-offs that library functions may be off by. Division and roots are not correctly rounded everywhere.
constexpr double kBasic = 1, kDivision = 2, kFunction = 4;

bool is_power_of_two(const Node& n) {
  if (!is<ConstantAttr>(n)) return false;
  int exponent = 0;
  return std::fabs(std::frexp(attr<ConstantAttr>(n).value, &exponent)) == 0.5 && std::abs(exponent) < 64;
}

/// The words that map_ops.def bounds functions of one real number with. `x` is the argument, `bx` its bound, `r` the
/// result.
struct FunctionBound {
  Arithmetic& a;
  NodeId x, bx, r;
  NodeId one = a.number(1);

  NodeId nothing() { return kNone; }
  bool exact() const { return bx == kNone; }
  /// The function's own error, in unit round-offs of the result, or of 1 beside them.
  NodeId rounded(double units) { return a.rounding(r, units); }
  NodeId absolute(double units) { return a.add(rounded(kFunction), a.number(units * a.model.rounding)); }
  /// The argument's error times a bound of the slope.
  NodeId passed_on(double slope) { return exact() ? kNone : a.scale(slope, bx); }
  /// exp is usually exp2 of a scaled argument, and that product is rounded.
  NodeId scaled_argument() { return exact() ? a.scale(a.model.rounding, a.finite_size(x)) : bx; }
  /// Of x to a negative power: `power` is its size.
  NodeId inverse(double power) {
    const NodeId own = rounded(kDivision);
    return exact() ? own : a.add(own, a.mul(a.scale(power, a.finite_size(r)), a.relative(a.abs(x), bx)));
  }
  NodeId square_root() {
    const NodeId own = rounded(kDivision);
    if (exact()) return own;
    // bx / (2 sqrt(x)), but never more than sqrt(bx).
    const NodeId spread = a.div(bx, a.add(a.larger(a.scale(2, r), a.sqrt(bx)), a.number(0x1.0p-1000)));
    const NodeId below = a.both(a.less(x, a.number(0)), a.near(a.abs(x), bx));  // a NaN here, a small root there
    return a.choose(below, a.number(kInfinity), a.add(own, spread));
  }
  NodeId tangent() {
    const NodeId own = rounded(kFunction);
    if (exact()) return own;
    const NodeId spread = a.mul(a.add(a.mul(r, r), one), bx);
    return a.add(own, a.choose(a.less(a.mul(a.abs(r), bx), a.number(0.5)), spread, a.number(kInfinity)));
  }

  NodeId of(MapOp op) {
    switch (op) {
#define BOUND(...) __VA_ARGS__
#define KERF_MAP_OP(name, facts, real, lanes, integer, bound) \
  case MapOp::name: return bound;
#include "ir/map_ops.def"
#undef KERF_MAP_OP
#undef BOUND
    }
    return kNone;
  }
};

}  // namespace

Traced Rewriter::map(const Node& n) {
  const MapOp op = attr<MapAttr>(n).op;
  std::vector<NodeId> values;
  NodeId doubt = kNone;
  bool exact = true, representable = true;
  for (const NodeId arg : n.args) {
    const Traced& x = traced(arg);
    values.push_back(x.value);
    doubt = a_.either(doubt, x.doubt);
    exact = exact && x.bound == kNone;
    representable = representable && x.representable;
  }
  if (op == MapOp::cast) {
    const DType dtype = is_float(n.dtype) ? DType::f64 : n.dtype;
    return cast(n, builder_.cast(values[0], dtype));
  }
  const NodeId value = a_.map(op, values);
  if (op == MapOp::select) return select(n, value);
  if (is_comparison(op)) return {value, kNone, exact ? doubt : a_.either(doubt, comparison_doubt(n)), false};
  if (op == MapOp::is_nan) {  // an unbounded error may be a NaN
    const NodeId bound = traced(n.args[0]).bound;
    return {value, kNone, bound == kNone ? kNone : a_.map(MapOp::equal, {bound, a_.number(kInfinity)}), false};
  }
  if (!is_float(n.dtype)) return {value, kNone, doubt, true};
  if (exact && facts_of(op).exact) return {value, kNone, kNone, representable};
  return {value, real_bound(n, value), kNone, false};
}

NodeId Rewriter::real_bound(const Node& n, NodeId result) {
  const MapOp op = attr<MapAttr>(n).op;
  const Traced& x = traced(n.args[0]);
  switch (facts_of(op).bound) {
    case BoundRule::sum:  // no `tiny`: sums of floats that come out tiny are exact
      return a_.plus(a_.plus(x.bound, traced(n.args[1]).bound),
                     a_.scale(kBasic * a_.model.rounding, a_.finite_size(result)));
    case BoundRule::product: return product_bound(n, result);
    case BoundRule::quotient: return quotient_bound(n, result);
    case BoundRule::power: return power_bound(n, result);
    case BoundRule::extreme: return extreme_bound(n, result);
    case BoundRule::unchanged: return x.bound;
    case BoundRule::step: return a_.infinite_where(step_doubt(op, x.value, x.bound));
    case BoundRule::function: return FunctionBound{a_, x.value, x.bound, result}.of(op);
    case BoundRule::none: break;
  }
  return kNone;
}

NodeId Rewriter::product_bound(const Node& n, NodeId result) {
  const Traced &x = traced(n.args[0]), &y = traced(n.args[1]);
  for (const auto& [constant, other] : {std::pair{n.args[0], y}, std::pair{n.args[1], x}})
    if (is_power_of_two(node(constant)))  // no rounding
      return other.bound == kNone ? kNone
                                  : a_.add(a_.scale(std::fabs(attr<ConstantAttr>(node(constant)).value), other.bound),
                                           a_.number(a_.model.tiny));
  NodeId bound = a_.rounding(result, kBasic);
  if (n.args[0] == n.args[1]) {
    if (x.bound == kNone) return bound;
    bound = a_.join(bound, a_.mul(x.bound, x.bound));
    return a_.join(bound, a_.scale(2, a_.passed_on(x.value, x.bound, x.value)));
  }
  if (x.bound != kNone) bound = a_.join(bound, a_.passed_on(x.value, x.bound, y.value));
  if (y.bound != kNone) bound = a_.join(bound, a_.passed_on(y.value, y.bound, x.value));
  // The product of both errors counts: it is all there is where both values are zero.
  return x.bound == kNone || y.bound == kNone ? bound : a_.join(bound, a_.mul(x.bound, y.bound));
}

NodeId Rewriter::quotient_bound(const Node& n, NodeId result) {
  const MapOp op = attr<MapAttr>(n).op;
  const Traced &x = traced(n.args[0]), &y = traced(n.args[1]);
  const bool whole = op != MapOp::div;
  const NodeId quotient = whole ? a_.div(x.value, y.value) : result;
  NodeId bound = kNone;
  if (!is_power_of_two(node(n.args[1])) || whole) bound = a_.rounding(quotient, kDivision);
  if (y.bound != kNone) {
    const NodeId size = a_.abs(y.value);
    bound = a_.plus(bound, a_.mul(a_.finite_size(quotient), a_.relative(size, y.bound)));
    if (x.bound != kNone) {
      const NodeId rest = a_.larger(a_.sub(size, y.bound), a_.number(0));
      bound = a_.plus(bound, a_.choose(a_.less(a_.number(0), x.bound), a_.div(x.bound, rest), a_.number(0)));
    }
  } else if (x.bound != kNone) {
    const NodeId passed = a_.div(x.bound, a_.abs(y.value));
    bound = a_.plus(bound, is<ConstantAttr>(node(n.args[1]))
                               ? passed
                               : a_.choose(a_.less(a_.number(0), x.bound), passed, a_.number(0)));
  }
  if (!whole) return bound;
  const NodeId floored = a_.map(MapOp::floor, {quotient});
  const NodeId distance = a_.abs(a_.sub(quotient, a_.map(MapOp::round, {quotient})));
  const NodeId jump = a_.infinite_where(a_.near(distance, bound));
  if (op == MapOp::floor_div) return jump;
  NodeId rest = a_.add(jump, a_.rounding(x.value, 2));
  rest = a_.plus(rest, x.bound);
  return y.bound == kNone ? rest : a_.add(rest, a_.mul(a_.finite_size(floored), y.bound));
}

NodeId Rewriter::power_bound(const Node& n, NodeId result) {
  const Traced &x = traced(n.args[0]), &p = traced(n.args[1]);
  // Usual implementations take exp2(p * log2(x)), whose error grows with the exponent's size. Clamped, so that x = 0
  // gives no 0 * infinity.
  const NodeId base = a_.smaller(a_.larger(a_.abs(x.value), a_.number(0x1.0p-1000)), a_.number(0x1.0p1000));
  const NodeId log = a_.abs(a_.map(MapOp::log, {base}));
  const NodeId size = a_.size(result);
  const NodeId units = a_.add(a_.mul(a_.finite_size(p.value), log), a_.number(1));
  NodeId bound = a_.add(a_.scale(kFunction * a_.model.rounding, a_.mul(size, units)), a_.number(a_.model.tiny));
  if (p.bound != kNone) bound = a_.add(bound, a_.mul(a_.mul(size, log), p.bound));
  if (x.bound == kNone) return bound;
  const bool smooth = is<ConstantAttr>(node(n.args[1])) && attr<ConstantAttr>(node(n.args[1])).value >= 1;
  if (smooth) {
    const double exponent = attr<ConstantAttr>(node(n.args[1])).value;
    const NodeId slope = a_.map(MapOp::pow, {a_.add(a_.abs(x.value), x.bound), a_.number(exponent - 1)});
    const NodeId passed = a_.mul(a_.scale(exponent, slope), x.bound);
    return a_.add(bound, a_.choose(a_.is_zero(x.bound), a_.number(0), passed));
  }
  const NodeId relative = a_.relative(a_.abs(x.value), x.bound);
  return a_.add(bound, a_.mul(a_.mul(size, a_.abs(p.value)), relative));
}

/// Of minimum and maximum: the error of every argument that may win. A NaN may be kept or dropped.
NodeId Rewriter::extreme_bound(const Node& n, NodeId result) {
  const bool low = attr<MapAttr>(n).op == MapOp::minimum;
  NodeId bound = kNone;
  for (const int side : {0, 1}) {
    const Traced& x = traced(n.args[static_cast<std::size_t>(side)]);
    const Traced& other = traced(n.args[static_cast<std::size_t>(1 - side)]);
    if (x.bound == kNone) continue;
    const NodeId slack = a_.plus(x.bound, other.bound);
    const NodeId behind = low ? a_.sub(x.value, other.value) : a_.sub(other.value, x.value);
    const NodeId own = a_.choose(a_.less(slack, behind), a_.number(0), x.bound);
    bound = bound == kNone ? own : a_.larger(bound, own);
  }
  return a_.choose(a_.is_nan(result), a_.number(kInfinity), bound);
}

/// Where a function with jumps may land on the other side of one.
NodeId Rewriter::step_doubt(MapOp op, NodeId x, NodeId bx) {
  const NodeId nearest = a_.map(MapOp::round, {x});
  NodeId distance = kNone;
  switch (op) {
    case MapOp::sign: distance = a_.abs(x); break;
    case MapOp::round: distance = a_.abs(a_.sub(a_.sub(x, a_.map(MapOp::floor, {x})), a_.number(0.5))); break;
    case MapOp::trunc:  // the only integer without a jump is 0
      distance = a_.choose(a_.map(MapOp::equal, {nearest, a_.number(0)}), a_.sub(a_.number(1), a_.abs(x)),
                           a_.abs(a_.sub(x, nearest)));
      break;
    default: distance = a_.abs(a_.sub(x, nearest));
  }
  return a_.near(distance, bx);
}

NodeId Rewriter::comparison_doubt(const Node& n) {
  const Traced &x = traced(n.args[0]), &y = traced(n.args[1]);
  return a_.near(a_.abs(a_.sub(x.value, y.value)), a_.plus(x.bound, y.bound));
}

Traced Rewriter::select(const Node& n, NodeId value) {
  const Traced &condition = traced(n.args[0]), &x = traced(n.args[1]), &y = traced(n.args[2]);
  const bool representable = x.representable && y.representable;
  if (!is_float(n.dtype)) {
    NodeId doubt = kNone;
    if (x.doubt != kNone || y.doubt != kNone) {
      const NodeId certain = builder_.constant(0, DType::boolean);
      doubt = a_.choose(condition.value, x.doubt == kNone ? certain : x.doubt, y.doubt == kNone ? certain : y.doubt);
    }
    if (condition.doubt != kNone)
      doubt = a_.either(doubt, a_.both(condition.doubt, a_.map(MapOp::not_equal, {x.value, y.value})));
    return {value, kNone, doubt, representable};
  }
  NodeId bound = kNone;
  if (x.bound != kNone || y.bound != kNone)
    bound = a_.choose(condition.value, a_.or_zero(x.bound), a_.or_zero(y.bound));
  if (condition.doubt == kNone) return {value, bound, kNone, representable && bound == kNone};
  // Either branch may be taken: harmless where they nearly agree.
  NodeId worst = a_.abs(a_.sub(x.value, y.value));
  if (x.bound != kNone || y.bound != kNone)
    worst = a_.add(worst, x.bound == kNone ? y.bound : y.bound == kNone ? x.bound : a_.larger(x.bound, y.bound));
  return {value, a_.choose(condition.doubt, worst, a_.or_zero(bound)), kNone, false};
}

Traced Rewriter::cast(const Node& n, NodeId value) {
  const Node& from = node(n.args[0]);
  const Traced& x = traced(n.args[0]);
  if (!is_float(n.dtype)) {
    if (!is_float(from.dtype) || x.bound == kNone) return {value, kNone, x.doubt, true};
    if (n.dtype == DType::boolean) return {value, kNone, a_.near(a_.abs(x.value), x.bound), true};
    return {value, kNone, step_doubt(MapOp::trunc, x.value, x.bound), true};
  }
  const bool narrow = n.dtype == DType::f16 || n.dtype == DType::bf16;
  if (!is_float(from.dtype)) {
    NodeId bound = a_.infinite_where(x.doubt);
    const bool small = from.dtype == DType::boolean || is<IotaAttr>(from) || is<ConstantAttr>(from);
    if (narrow && from.dtype != DType::boolean) {
      bound = a_.plus(bound, storage_rounding(value, n.dtype));
    } else if (!small && a_.model.rounding > 0x1.0p-53) {  // integers beyond the mantissa are rounded
      const NodeId size = a_.abs(value);
      bound = a_.plus(bound, a_.choose(a_.less(a_.number(1 / a_.model.rounding), size),
                                       a_.scale(a_.model.rounding, size), a_.number(0)));
    }
    return {value, bound, kNone, bound == kNone};
  }
  const bool widens = promote(from.dtype, n.dtype) == n.dtype;
  if (widens) return {value, x.bound, kNone, x.representable};
  if (narrow) return {value, a_.plus(x.bound, storage_rounding(value, n.dtype)), kNone, false};
  return {value, a_.plus(x.bound, a_.rounding(value, kBasic)), kNone, false};
}

}  // namespace kerf::ir::bound
