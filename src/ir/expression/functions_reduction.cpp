// Reductions, softmax and scans.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

/// Sums and products of integers are i64, as in PyTorch.
T widen_integers(Ops& ops, T x) { return is_float(x.dtype()) ? x : ops.cast(x, DType::i64); }

ReduceOp reduce_op(std::string_view name) {
  if (name == "amax") return ReduceOp::max;
  if (name == "amin") return ReduceOp::min;
  for (int i = 0; i <= static_cast<int>(ReduceOp::all); ++i)
    if (reduce_op_name(static_cast<ReduceOp>(i)) == name) return static_cast<ReduceOp>(i);
  KERF_CHECK(false, "a function row names no reduction");
  return ReduceOp::sum;
}

Value reduction(Call& call) {
  const ReduceOp op = reduce_op(call.name());
  T x = call.tensor("x");
  if (op == ReduceOp::sum || op == ReduceOp::prod) x = widen_integers(call.ops, x);
  return Value::of(call.ops.reduce(op, x, call.axes("axis", x.rank()), call.flag("keepdims")));
}

/// max(x, axis), and max(x, y) for two tensors, as in PyTorch.
Value extreme(Call& call) {
  const Value& second = call.value("axis");
  if (second.kind != ValueKind::tensor) {
    Value values = reduction(call);
    const T x = call.tensor("x");
    const std::vector<int> axes = call.axes("axis", x.rank());
    if (call.ops.failed() || axes.size() != 1) return values;
    const ReduceOp which = call.name() == "max" ? ReduceOp::argmax : ReduceOp::argmin;
    values.indices = [x, axes, which, keepdims = call.flag("keepdims")] {
      return Value::of(x.ops->reduce(which, x, axes, keepdims));
    };
    return values;
  }
  const auto args = call.tensors({"x", "axis"});
  return call.result(apply(call.name() == "max" ? MapOp::maximum : MapOp::minimum, args[0], args[1]), {"x", "axis"});
}

Value mean_of(Call& call) {
  const T x = call.tensor("x");
  return Value::of(mean(x, call.axes("axis", x.rank()), call.flag("keepdims")));
}

T variance(Call& call) {
  const T x = call.ops.to_float(call.tensor("x"));
  const std::vector<int> axes = call.axes("axis", x.rank());
  std::int64_t correction = call.integer("correction");
  if (call.has("unbiased")) correction = call.flag("unbiased") ? 1 : 0;
  const T centred = x - mean(x, axes, true);
  const T squares = call.ops.reduce(ReduceOp::sum, centred * centred, axes, call.flag("keepdims"));
  const Dim freedom = count_along(x, axes) - Dim(correction);
  return divide_by(squares, call.ops.provably_at_most(0, freedom) ? freedom : max(freedom, Dim(0)));
}
Value var(Call& call) { return Value::of(variance(call)); }
Value std_of(Call& call) { return Value::of(apply(MapOp::sqrt, variance(call))); }

Value norm_of(Call& call) {
  const T x = call.ops.to_float(call.tensor("x"));
  double p = 2;
  if (call.value("p").kind == ValueKind::text)
    call.word("p", {"fro"});
  else
    p = call.real("p");
  return Value::of(norm(x, p, call.axes("axis", x.rank()), call.flag("keepdims")));
}

Value logsumexp(Call& call) {
  const T x = call.ops.to_float(call.tensor("x"));
  const std::vector<int> axes = call.axes("axis", x.rank());
  const T top = max_kept(x, axes);
  // Rows of -inf and rows with +inf: subtracting the maximum would make a NaN, so nothing is subtracted.
  const T safe = select(apply(MapOp::equal, apply(MapOp::abs, top), kInfinity), number_like(top, 0), top);
  T result = apply(MapOp::log, sum_kept(apply(MapOp::exp, x - safe), axes)) + safe;
  if (call.flag("keepdims") || call.ops.failed()) return Value::of(result);
  Shape shape;
  for (int d = 0; d < x.rank(); ++d)
    if (!axes.empty() && std::find(axes.begin(), axes.end(), d) == axes.end()) shape.push_back(x.extent(d));
  return Value::of(call.ops.reshape(result, std::move(shape)));
}

template <T (*formula)(T, int)>
Value along_one_axis(Call& call) {
  const T x = call.ops.to_float(call.tensor("x"));
  if (x.rank() == 0 && !call.ops.failed()) {
    call.fail("x", "must have an axis");
    return {};
  }
  return Value::of(formula(x, call.axis("axis", x.rank())));
}
T softmin(T x, int axis) { return softmax(-x, axis); }

Value scan(Call& call) {
  const std::string& name = call.name();
  const ScanOp op = name == "cumsum"    ? ScanOp::sum
                    : name == "cumprod" ? ScanOp::prod
                    : name == "cummax"  ? ScanOp::max
                                        : ScanOp::min;
  T x = call.tensor("x");
  if (op == ScanOp::sum || op == ScanOp::prod) x = widen_integers(call.ops, x);
  const int axis = x.rank() == 0 ? 0 : call.axis("axis", x.rank());
  return Value::of(call.ops.scan({op, axis, call.flag("exclusive"), call.flag("reverse")}, x));
}

Value count_nonzero(Call& call) {
  const T x = call.tensor("x");
  const T hits = call.ops.cast(call.ops.cast(x, DType::boolean), DType::i64);
  return Value::of(call.ops.reduce(ReduceOp::sum, hits, call.axes("axis", x.rank()), call.flag("keepdims")));
}

}  // namespace

T softmax(T x, int axis) {
  const T e = apply(MapOp::exp, x - max_kept(x, {axis}));
  return e / sum_kept(e, {axis});
}

T log_softmax(T x, int axis) {
  const T shifted = x - max_kept(x, {axis});
  return shifted - apply(MapOp::log, sum_kept(apply(MapOp::exp, shifted), {axis}));
}

T norm(T x, double p, const std::vector<int>& axes, bool keepdims) {
  Ops& ops = *x.ops;
  const T size = apply(MapOp::abs, x);
  if (p == kInfinity) return ops.reduce(ReduceOp::max, size, axes, keepdims);
  if (p == -kInfinity) return ops.reduce(ReduceOp::min, size, axes, keepdims);
  if (p == 1) return ops.reduce(ReduceOp::sum, size, axes, keepdims);
  if (p == 2) return apply(MapOp::sqrt, ops.reduce(ReduceOp::sum, x * x, axes, keepdims));
  if (p == 0) return ops.reduce(ReduceOp::sum, ops.cast(apply(MapOp::not_equal, x, 0.0), x.dtype()), axes, keepdims);
  return apply(MapOp::pow, ops.reduce(ReduceOp::sum, apply(MapOp::pow, size, p), axes, keepdims), 1 / p);
}

std::span<const FunctionRow> reduction_functions() {
  static constexpr FunctionRow kRows[] = {
      {"sum(x, axis=none, keepdims=false)", "Sum over one axis, several ([0, 2]) or all; integers give i64.", reduction,
       kPrimitive},
      {"prod(x, axis=none, keepdims=false)", "Product; integers give i64.", reduction, kPrimitive},
      {"mean(x, axis=none, keepdims=false)", "Arithmetic mean.", mean_of},
      {"max(x, axis=none, keepdims=false)",
       "Largest value; NaN wins. Along one axis [0] is the values and [1] the indices; max(x, y) is maximum.", extreme,
       kPrimitive},
      {"min(x, axis=none, keepdims=false)",
       "Smallest value; NaN wins. Along one axis [0] is the values and [1] the indices; min(x, y) is minimum.", extreme,
       kPrimitive},
      {"amax(x, axis=none, keepdims=false)", "Largest value.", reduction, kPrimitive},
      {"amin(x, axis=none, keepdims=false)", "Smallest value.", reduction, kPrimitive},
      {"argmax(x, axis=none, keepdims=false)",
       "First index (i64) of the largest value; without an axis, of the flat x.", reduction, kPrimitive},
      {"argmin(x, axis=none, keepdims=false)", "First index (i64) of the smallest value.", reduction, kPrimitive},
      {"any(x, axis=none, keepdims=false)", "True where one element is non-zero.", reduction, kPrimitive},
      {"all(x, axis=none, keepdims=false)", "True where all elements are non-zero.", reduction, kPrimitive},
      {"count_nonzero(x, axis=none, keepdims=false)", "Number (i64) of non-zero elements.", count_nonzero},
      {"var(x, axis=none, correction=1, keepdims=false, unbiased=none)",
       "Variance in two passes, divided by count - correction.", var},
      {"std(x, axis=none, correction=1, keepdims=false, unbiased=none)", "Square root of the variance.", std_of},
      {"norm(x, p=2, axis=none, keepdims=false)", "p-norm; p is a number, inf, -inf or \"fro\" (2).", norm_of},
      {"logsumexp(x, axis=none, keepdims=false)", "log(sum(exp(x))) without overflow.", logsumexp},
      {"softmax(x, axis=-1)", "exp(x) / sum(exp(x)), after subtracting the maximum.", along_one_axis<softmax>},
      {"log_softmax(x, axis=-1)", "log(softmax(x)).", along_one_axis<log_softmax>},
      {"softmin(x, axis=-1)", "softmax(-x).", along_one_axis<softmin>},
      {"cumsum(x, axis, reverse=false, exclusive=false)", "Running sum; integers give i64.", scan, kPrimitive},
      {"cumprod(x, axis, reverse=false, exclusive=false)", "Running product; integers give i64.", scan, kPrimitive},
      {"cummax(x, axis, reverse=false, exclusive=false)", "Running maximum (no indices).", scan, kPrimitive},
      {"cummin(x, axis, reverse=false, exclusive=false)", "Running minimum (no indices).", scan, kPrimitive},
  };
  return kRows;
}

}  // namespace kerf::ir
