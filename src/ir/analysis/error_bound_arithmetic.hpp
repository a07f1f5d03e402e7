#pragma once
// Small vocabulary for writing error bounds as graph nodes. Internal to error_bound*.cpp.

#include <limits>
#include <utility>
#include <vector>

#include "ir/analysis/error_bound.hpp"
#include "ir/builder.hpp"

namespace kerf::ir::bound {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr NodeId kNone = -1;  ///< as a bound: the value is exact; as a doubt: the value is certain

/// Expressions over f64 and bool nodes. The first builder error is kept in `status`, and from then on results are
/// meaningless; callers check `status` after each node.
class Arithmetic {
 public:
  Arithmetic(Builder& the_builder, const ErrorModel& the_model) : builder(the_builder), model(the_model) {}

  Builder& builder;
  const ErrorModel& model;
  Status status;

  NodeId take(Result<NodeId> result) {
    if (result) return *result;
    if (status) status = tl::unexpected<Error>(std::move(result).error());
    return 0;
  }
  NodeId map(MapOp op, std::vector<NodeId> args) { return take(builder.map(op, std::move(args))); }
  NodeId number(double value) { return builder.constant(value, DType::f64); }

  NodeId add(NodeId a, NodeId b) { return map(MapOp::add, {a, b}); }
  NodeId sub(NodeId a, NodeId b) { return map(MapOp::sub, {a, b}); }
  NodeId mul(NodeId a, NodeId b) { return map(MapOp::mul, {a, b}); }
  NodeId div(NodeId a, NodeId b) { return map(MapOp::div, {a, b}); }
  NodeId scale(double factor, NodeId a) { return factor == 1 ? a : mul(a, number(factor)); }
  NodeId abs(NodeId a) { return map(MapOp::abs, {a}); }
  NodeId sqrt(NodeId a) { return map(MapOp::sqrt, {a}); }
  NodeId larger(NodeId a, NodeId b) { return map(MapOp::maximum, {a, b}); }
  NodeId smaller(NodeId a, NodeId b) { return map(MapOp::minimum, {a, b}); }
  NodeId less(NodeId a, NodeId b) { return map(MapOp::less, {a, b}); }
  NodeId both(NodeId a, NodeId b) { return map(MapOp::logical_and, {a, b}); }
  NodeId is_nan(NodeId a) { return map(MapOp::is_nan, {a}); }
  NodeId negate(NodeId a) { return map(MapOp::logical_not, {a}); }
  NodeId choose(NodeId condition, NodeId a, NodeId b) { return map(MapOp::select, {condition, a, b}); }

  NodeId square(NodeId a) { return mul(a, a); }
  /// The bound of a result that two errors meet in: their sum, or the root of the sum of their squares.
  NodeId join(NodeId a, NodeId b) { return model.walk ? sqrt(add(square(a), square(b))) : add(a, b); }

  /// Two bounds joined, or-ed doubts; either may be kNone.
  NodeId plus(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : join(a, b); }
  NodeId either(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : map(MapOp::logical_or, {a, b}); }
  NodeId or_zero(NodeId bound) { return bound == kNone ? number(0) : bound; }
  /// +inf where in doubt, else 0.
  NodeId infinite_where(NodeId doubt) { return doubt == kNone ? kNone : choose(doubt, number(kInfinity), number(0)); }

  /// |v|, but 0 where v is infinite or NaN: those are exact, or their neighbours already say otherwise.
  NodeId finite_size(NodeId v) {
    const NodeId size = abs(v);
    return choose(less(size, number(kInfinity)), size, number(0));
  }
  /// The same, and +inf where v is so large that the working precision may overflow.
  NodeId size(NodeId v) {
    const NodeId size = abs(v), infinity = number(kInfinity);
    return choose(less(size, number(largest())), size, choose(less(size, infinity), infinity, number(0)));
  }
  /// Error of rounding v once, `units` unit round-offs wide.
  NodeId rounding(NodeId v, double units) { return add(scale(units * model.rounding, size(v)), number(model.tiny)); }
  /// Where the number format ends, with a margin: formats are about symmetric around 1.
  double largest() const { return 0.5 / model.tiny; }

  NodeId is_zero(NodeId a) { return map(MapOp::equal, {a, number(0)}); }

  /// What the error of `v` does to v * other: |other| bound. An infinity times a number that is certainly not 0 is not
  /// finite; times one that may be 0 nothing is known, as it may have been left out. NaN times anything is NaN.
  NodeId passed_on(NodeId v, NodeId bound, NodeId other) {
    const NodeId size = abs(other), infinity = number(kInfinity);
    const NodeId certain = less(scale(8, bound), abs(v)), nan = map(MapOp::logical_or, {is_nan(v), is_nan(other)});
    const NodeId none = map(MapOp::logical_or, {nan, is_zero(bound)});
    return choose(less(size, infinity), mul(bound, size),
                  choose(none, number(0), choose(certain, number(kNotFinite), infinity)));
  }

  /// bound / (size - bound), the relative error that a divisor brings; +inf when the divisor may be zero, 0 when it is
  /// exact.
  NodeId relative(NodeId size, NodeId bound) {
    const NodeId rest = sub(size, bound), zero = number(0);
    return choose(less(zero, rest), div(bound, rest), choose(less(zero, bound), number(kInfinity), zero));
  }
  /// Closer to a jump than can be told: strict, so that a bound of 0 leaves no doubt.
  NodeId near(NodeId distance, NodeId bound) { return less(distance, scale(8, bound)); }
};

}  // namespace kerf::ir::bound
