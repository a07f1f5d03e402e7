// Tensors made of nothing, and triangles and diagonals.

#include <algorithm>
#include <cmath>

#include "ir/builder_check.hpp"
#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

Value filled(Call& call, T scalar, Shape shape) {
  for (const auto& extent : shape)
    if (const Status status = require_at_least(call.ops.builder(), extent, 0, "an extent"); !status)
      call.fail(status.error().message);
  return Value::of(call.ops.broadcast_to(scalar, std::move(shape)));
}

/// zeros, ones and their _like forms.
double fill_of(const Call& call) { return call.name().rfind("ones", 0) == 0 ? 1 : 0; }

Value constant_shape(Call& call) {
  return filled(call, call.ops.constant(fill_of(call), call.dtype("dtype")), call.extents("shape"));
}
Value constant_like(Call& call) {
  const T x = call.tensor("x");
  const DType dtype = call.has("dtype") ? call.dtype("dtype") : x.dtype();
  return filled(call, call.ops.constant(fill_of(call), dtype), x.shape());
}
Value full(Call& call) {
  if (!call.value("value").is_numeric()) call.fail("value", "must be a number");
  T scalar = to_tensor(call.ops, call.value("value"));
  if (call.has("dtype")) scalar = to_tensor(call.ops, call.value("value"), call.dtype("dtype"));
  if (!call.ops.failed() && scalar.rank() != 0) call.fail("value", "must be a scalar");
  return filled(call, scalar, call.extents("shape"));
}
Value full_like(Call& call) {
  const T x = call.tensor("x");
  if (!call.value("value").is_numeric()) call.fail("value", "must be a number");
  const T scalar = to_tensor(call.ops, call.value("value"), call.has("dtype") ? call.dtype("dtype") : x.dtype());
  if (!call.ops.failed() && scalar.rank() != 0) call.fail("value", "must be a scalar");
  return filled(call, scalar, x.shape());
}

Value eye(Call& call) {
  const Dim rows = call.extent("n"), cols = call.has("m") ? call.extent("m") : rows;
  for (const auto& extent : {rows, cols})
    if (const Status status = require_at_least(call.ops.builder(), extent, 0, "an extent"); !status)
      call.fail(status.error().message);
  const DType dtype = call.dtype("dtype");
  if (call.ops.failed()) return {};
  const T row = call.ops.iota(0, {rows, Dim(1)}, DType::i64), col = call.ops.iota(0, {cols}, DType::i64);
  return Value::of(call.ops.cast(apply(MapOp::equal, row, col), dtype));
}

constexpr double kMaxElements = 0x1.0p40;

Value integer_range(Call& call, const Dim& start, const Dim& stop, std::int64_t step, DType dtype) {
  const Dim length = step > 0 ? ceil_div(stop - start, step) : ceil_div(start - stop, Dim(0) - Dim(step));
  const Dim count = call.ops.provably_at_most(0, length) ? length : max(length, Dim(0));
  const bool direct = step == 1 && start == Dim(0) && (is_float(dtype) || dtype == DType::i64);
  T values = call.ops.iota(0, {count}, direct ? dtype : DType::i64);
  if (step != 1) values = values * call.ops.constant(static_cast<double>(step), DType::i64);
  if (!(start == Dim(0))) values = values + call.ops.value_of(start, DType::i64);
  return Value::of(call.ops.cast(values, dtype));
}

Value arange(Call& call) {
  const bool has_stop = call.has("stop");
  const Value start = has_stop ? call.value("start") : Value::of(Dim(0));
  const Value stop = has_stop ? call.value("stop") : call.value("start");
  const Value step = call.value("step");
  const bool integral =
      start.kind == ValueKind::extent && stop.kind == ValueKind::extent && step.kind == ValueKind::extent;
  const DType dtype = call.has("dtype") ? call.dtype("dtype") : integral ? DType::i64 : DType::f32;
  if (integral) {
    const std::int64_t by = call.integer("step");
    if (!call.ops.failed() && (by == 0 || by == INT64_MIN)) call.fail("step", "must not be 0");
    return call.ops.failed() ? Value{} : integer_range(call, start.extent, stop.extent, by, dtype);
  }
  const auto from = start.number(), to = stop.number(), by = step.number();
  const double count = from && to && by ? std::max(0.0, std::ceil((*to - *from) / *by)) : NAN;
  if (!(count < kMaxElements)) {
    call.fail("needs finite numbers and a step that is not 0");
    return {};
  }
  const DType inner = is_float(dtype) ? dtype : DType::f64;
  const T steps = call.ops.iota(0, {Dim(static_cast<std::int64_t>(count))}, inner);
  return Value::of(call.ops.cast(steps * *by + *from, dtype));
}

Value linspace(Call& call) {
  const double start = call.real("start"), stop = call.real("stop");
  const Dim steps = call.extent("steps");
  const DType dtype = call.dtype("dtype");
  if (const Status status = require_at_least(call.ops.builder(), steps, 1, "steps"); !status)
    call.fail(status.error().message);
  if (call.ops.failed() || !is_float(dtype)) {
    call.fail("dtype", "must be a float");
    return {};
  }
  const T i = call.ops.iota(0, {steps}, dtype);
  const T gaps = call.ops.value_of(max(steps - Dim(1), Dim(1)), dtype);
  return Value::of(i * (stop - start) / gaps + start);
}

Value one_hot(Call& call) {
  const T x = call.tensor("x");
  const Dim classes = call.extent("num_classes");
  if (!call.ops.failed() && !is_integer(x.dtype())) call.fail("x", "must hold integers");
  if (const Status status = require_at_least(call.ops.builder(), classes, 1, "num_classes"); !status)
    call.fail(status.error().message);
  if (call.ops.failed()) return {};
  const T hit = apply(MapOp::equal, unsqueeze(x, x.rank()), call.ops.iota(0, {classes}, DType::i64));
  return Value::of(call.ops.cast(hit, DType::i64));
}

/// tril keeps col - row <= diagonal, triu col - row >= diagonal.
Value triangle(Call& call) {
  const T x = call.tensor("x");
  const Dim diagonal = call.extent("diagonal");
  if (!call.ops.failed() && x.rank() < 2) call.fail("x", "must have at least two axes");
  if (call.ops.failed()) return {};
  const bool lower = call.name() == "tril";
  const T below = below_diagonal(call.ops, x.extent(-2), x.extent(-1), lower ? diagonal : diagonal - Dim(1));
  const T zero = call.ops.constant(0, x.dtype());
  return Value::of(lower ? select(below, x, zero) : select(below, zero, x));
}

/// The diagonal of a matrix as a vector.
T diagonal_of(T x, std::int64_t diagonal) {
  const Dim down = diagonal < 0 ? -diagonal : 0, right = diagonal > 0 ? diagonal : 0;
  const Dim rows = x.extent(0) - down, cols = x.extent(1) - right;
  Dim length = x.ops->provably_at_most(rows, cols)   ? rows
               : x.ops->provably_at_most(cols, rows) ? cols
                                                     : min(rows, cols);
  if (!x.ops->provably_at_most(0, length)) length = max(length, Dim(0));
  ViewAttr view;
  view.axes = {{down, {{0, 1}}, std::nullopt}, {right, {{0, 1}}, std::nullopt}};
  return x.ops->view(x, std::move(view), {length});
}

Value diag(Call& call) {
  const T x = call.tensor("x");
  const std::int64_t diagonal = call.integer("diagonal");
  if (!call.ops.failed() && x.rank() != 1 && x.rank() != 2) call.fail("x", "must be a vector or a matrix");
  if (!call.ops.failed() && std::abs(static_cast<double>(diagonal)) > 0x1.0p31)
    call.fail("diagonal", "is out of range");
  if (call.ops.failed()) return {};
  if (x.rank() == 2) return Value::of(diagonal_of(x, diagonal));
  const std::int64_t down = std::max<std::int64_t>(-diagonal, 0);
  const Dim size = x.extent(0) + Dim(std::abs(diagonal));
  ViewAttr view;  // row i holds x[i - down] everywhere; all but the diagonal is then cleared
  view.fill = 0;
  view.axes = {{Dim(-down), {{0, 1}}, std::nullopt}};
  const T rows = call.ops.view(x, std::move(view), {size, Dim(1)});
  const T row = call.ops.iota(0, {size, Dim(1)}, DType::i64), col = call.ops.iota(0, {size}, DType::i64);
  const T hit = apply(MapOp::equal, row + static_cast<double>(diagonal), col);
  return Value::of(select(hit, rows, call.ops.constant(0, x.dtype())));
}

Value trace(Call& call) {
  const T x = call.tensor("x");
  if (!call.ops.failed() && x.rank() != 2) call.fail("x", "must be a matrix");
  if (call.ops.failed()) return {};
  return Value::of(call.ops.reduce(ReduceOp::sum, diagonal_of(x, 0), {}, false));
}

}  // namespace

T below_diagonal(Ops& ops, const Dim& rows, const Dim& cols, const Dim& diagonal) {
  T row = ops.iota(0, {rows, Dim(1)}, DType::i64);
  if (!(diagonal == Dim(0))) row = row + ops.value_of(diagonal, DType::i64);
  return apply(MapOp::less_equal, ops.iota(0, {cols}, DType::i64), row);
}

std::span<const FunctionRow> creation_functions() {
  static constexpr FunctionRow kRows[] = {
      {"zeros(*shape, dtype=\"f32\")", "All 0.", constant_shape, kPrimitive},
      {"ones(*shape, dtype=\"f32\")", "All 1.", constant_shape, kPrimitive},
      {"full(shape, value, dtype=none)", "All the same value.", full, kPrimitive},
      {"zeros_like(x, dtype=none)", "All 0, in the shape of x.", constant_like, kPrimitive},
      {"ones_like(x, dtype=none)", "All 1, in the shape of x.", constant_like, kPrimitive},
      {"full_like(x, value, dtype=none)", "All the same value, in the shape of x.", full_like, kPrimitive},
      {"eye(n, m=none, dtype=\"f32\")", "Ones on the diagonal.", eye, kPrimitive},
      {"arange(start, stop=none, step=1, dtype=none)", "start, start + step, ... below stop; arange(n) starts at 0.",
       arange, kPrimitive},
      {"linspace(start, stop, steps, dtype=\"f32\")", "Evenly spaced numbers, both ends included.", linspace,
       kPrimitive},
      {"one_hot(x, num_classes)", "i64, with a new last axis: 1 at the class, else 0.", one_hot},
      {"tril(x, diagonal=0)", "0 above the diagonal of the last two axes.", triangle},
      {"triu(x, diagonal=0)", "0 below the diagonal of the last two axes.", triangle},
      {"diag(x, diagonal=0)", "A vector as a diagonal matrix, or the diagonal of a matrix.", diag},
      {"trace(x)", "Sum of the diagonal.", trace},
  };
  return kRows;
}

}  // namespace kerf::ir
