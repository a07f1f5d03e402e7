// Elementwise arithmetic, comparison, logic and casts.

#include <array>
#include <cmath>
#include <limits>

#include "ir/expression/functions.hpp"
#include "ir/expression/operators.hpp"

namespace kerf::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Function names that differ from those of the primitive they are.
MapOp primitive(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, MapOp>, 16> kNames{{
      {"negative", MapOp::neg},
      {"absolute", MapOp::abs},
      {"sgn", MapOp::sign},
      {"fix", MapOp::trunc},
      {"isnan", MapOp::is_nan},
      {"subtract", MapOp::sub},
      {"multiply", MapOp::mul},
      {"divide", MapOp::div},
      {"true_divide", MapOp::div},
      {"floor_divide", MapOp::floor_div},
      {"eq", MapOp::equal},
      {"ne", MapOp::not_equal},
      {"lt", MapOp::less},
      {"le", MapOp::less_equal},
      {"gt", MapOp::greater},
      {"ge", MapOp::greater_equal},
  }};
  for (const auto& [known, op] : kNames)
    if (known == name) return op;
  for (int i = 0; i <= static_cast<int>(MapOp::cast); ++i)
    if (map_op_name(static_cast<MapOp>(i)) == name) return static_cast<MapOp>(i);
  KERF_CHECK(false, "a function row names no primitive");
  return MapOp::cast;
}

Value unary(Call& call) { return call.result(apply(primitive(call.name()), call.tensor("x")), {"x"}); }

Value binary(Call& call) {
  const auto args = call.tensors({"x", "y"});
  return call.result(apply(primitive(call.name()), args[0], args[1]), {"x", "y"});
}

Value logical(Call& call) {
  const T x = call.ops.cast(call.tensor("x"), DType::boolean), y = call.ops.cast(call.tensor("y"), DType::boolean);
  return Value::of(apply(primitive(call.name()), x, y));
}

Value log10(Call& call) { return call.result(apply(MapOp::log, call.tensor("x")) * (1 / std::log(10.0)), {"x"}); }
Value square(Call& call) {
  const T x = call.tensor("x");
  return call.result(x * x, {"x"});
}
Value frac(Call& call) {
  const T x = call.tensor("x");
  return call.result(x - apply(MapOp::trunc, x), {"x"});
}
Value isinf(Call& call) {
  const T x = call.ops.to_float(call.tensor("x"));
  return Value::of(apply(MapOp::equal, apply(MapOp::abs, x), kInfinity));
}
Value isfinite(Call& call) {
  const T x = call.ops.to_float(call.tensor("x"));
  return Value::of(apply(MapOp::less, apply(MapOp::abs, x), kInfinity));
}

Value power(Call& call) { return binary_operation(call.ops, "**", call.value("x"), call.value("exponent")); }

Value clamp_tensor(Call& call) {
  std::vector<std::string_view> names{"x"};
  for (const auto* bound : {"min", "max"})
    if (call.has(bound)) names.emplace_back(bound);
  if (names.size() == 1) call.fail("needs 'min', 'max' or both");
  const auto args = call.tensors(names);
  T result = args[0];
  for (std::size_t i = 1; i < args.size(); ++i)
    result = apply(names[i] == "min" ? MapOp::maximum : MapOp::minimum, result, args[i]);
  return call.result(result, names);
}

Value where(Call& call) {
  const T condition = call.ops.cast(call.tensor("mask"), DType::boolean);
  const auto args = call.tensors({"x", "y"});
  return Value::of(select(condition, args[0], args[1]));
}

Value masked_fill(Call& call) {
  const T x = call.tensor("x"), mask = call.ops.cast(call.tensor("mask"), DType::boolean);
  if (!call.value("value").is_numeric()) call.fail("value", "must be a number");
  return Value::of(select(mask, to_tensor(call.ops, call.value("value"), x.dtype()), x));
}

Value cast(Call& call) { return Value::of(call.ops.cast(call.tensor("x"), call.dtype("dtype"))); }
Value cast_to_name(Call& call) {
  const auto dtype = dtype_from_name(call.name());
  KERF_CHECK(dtype.has_value(), "a cast function is named after its dtype");
  return Value::of(to_tensor(call.ops, call.value("x"), *dtype));
}

Value lerp(Call& call) {
  const auto args = call.tensors({"x", "y", "t"});
  return call.result(args[0] + args[2] * (args[1] - args[0]), {"x", "y", "t"});
}
Value fma(Call& call) {
  const auto args = call.tensors({"x", "y", "z"});
  return call.result(args[0] * args[1] + args[2], {"x", "y", "z"});
}
Value addcmul(Call& call) {
  const auto args = call.tensors({"x", "tensor1", "tensor2", "value"});
  return Value::of(args[0] + args[3] * args[1] * args[2]);
}
Value logaddexp(Call& call) {
  const auto args = call.tensors({"x", "y"});
  const T distance = apply(MapOp::abs, args[0] - args[1]);
  // Both infinite: their difference is NaN, the larger one is the answer.
  const T high = apply(MapOp::maximum, args[0], args[1]);
  const T soft = high + apply(MapOp::log1p, apply(MapOp::exp, -distance));
  return call.result(select(apply(MapOp::equal, args[0], args[1]), args[0] + std::log(2.0), soft), {"x", "y"});
}
Value identity(Call& call) { return call.value("x"); }

constexpr bool kPrimitive = false;

}  // namespace

std::span<const FunctionRow> pointwise_functions() {
  static constexpr FunctionRow kRows[] = {
      {"abs(x)", "Absolute value.", unary, kPrimitive, "absolute"},
      {"neg(x)", "Negation.", unary, kPrimitive, "negative"},
      {"sign(x)", "-1, 0 or 1; NaN stays NaN.", unary, kPrimitive, "sgn"},
      {"exp(x)", "e to the x.", unary, kPrimitive},
      {"exp2(x)", "2 to the x.", unary, kPrimitive},
      {"expm1(x)", "exp(x) - 1, accurate near 0.", unary, kPrimitive},
      {"log(x)", "Natural logarithm.", unary, kPrimitive},
      {"log2(x)", "Logarithm to base 2.", unary, kPrimitive},
      {"log10(x)", "Logarithm to base 10.", log10},
      {"log1p(x)", "log(1 + x), accurate near 0.", unary, kPrimitive},
      {"sqrt(x)", "Square root.", unary, kPrimitive},
      {"rsqrt(x)", "1 / sqrt(x).", unary, kPrimitive},
      {"reciprocal(x)", "1 / x.", unary, kPrimitive},
      {"square(x)", "x * x.", square, kPrimitive},
      {"sin(x)", "Sine, in radians.", unary, kPrimitive},
      {"cos(x)", "Cosine, in radians.", unary, kPrimitive},
      {"tan(x)", "Tangent, in radians.", unary, kPrimitive},
      {"tanh(x)", "Hyperbolic tangent.", unary, kPrimitive},
      {"erf(x)", "Error function.", unary, kPrimitive},
      {"floor(x)", "Largest integer not above x.", unary, kPrimitive},
      {"ceil(x)", "Smallest integer not below x.", unary, kPrimitive},
      {"round(x)", "Nearest integer, halves to even.", unary, kPrimitive},
      {"trunc(x)", "Integer part.", unary, kPrimitive, "fix"},
      {"frac(x)", "x - trunc(x).", frac},
      {"isnan(x)", "True where x is NaN.", unary, kPrimitive},
      {"isinf(x)", "True where x is infinite.", isinf, kPrimitive},
      {"isfinite(x)", "True where x is neither infinite nor NaN.", isfinite, kPrimitive},
      {"logical_not(x)", "True where x is 0 or false.", unary, kPrimitive},
      {"logical_and(x, y)", "True where both are non-zero.", logical, kPrimitive},
      {"logical_or(x, y)", "True where one is non-zero.", logical, kPrimitive},
      {"logical_xor(x, y)", "True where exactly one is non-zero.", logical, kPrimitive},
      {"add(x, y)", "x + y.", binary, kPrimitive},
      {"sub(x, y)", "x - y.", binary, kPrimitive, "subtract"},
      {"mul(x, y)", "x * y.", binary, kPrimitive, "multiply"},
      {"div(x, y)", "x / y; integers give f32.", binary, kPrimitive, "divide true_divide"},
      {"floor_divide(x, y)", "x // y, rounded down.", binary, kPrimitive},
      {"remainder(x, y)", "x % y, with the sign of y.", binary, kPrimitive},
      {"minimum(x, y)", "The smaller one; NaN wins.", binary, kPrimitive},
      {"maximum(x, y)", "The larger one; NaN wins.", binary, kPrimitive},
      {"pow(x, exponent)", "x ** exponent.", power, kPrimitive, "power"},
      {"eq(x, y)", "x == y.", binary, kPrimitive},
      {"ne(x, y)", "x != y.", binary, kPrimitive},
      {"lt(x, y)", "x < y.", binary, kPrimitive},
      {"le(x, y)", "x <= y.", binary, kPrimitive},
      {"gt(x, y)", "x > y.", binary, kPrimitive},
      {"ge(x, y)", "x >= y.", binary, kPrimitive},
      {"logaddexp(x, y)", "log(exp(x) + exp(y)) without overflow.", logaddexp},
      {"clamp(x, min=none, max=none)", "x limited to [min, max]; NaN stays NaN.", clamp_tensor, kPrimitive, "clip"},
      {"where(mask, x, y)", "x where the mask is true, else y.", where, kPrimitive},
      {"masked_fill(x, mask, value)", "value where the mask is true, else x; keeps the dtype of x.", masked_fill,
       kPrimitive},
      {"lerp(x, y, t)", "x + t * (y - x).", lerp},
      {"fma(x, y, z)", "x * y + z.", fma, kPrimitive},
      {"addcmul(x, tensor1, tensor2, value=1)", "x + value * tensor1 * tensor2.", addcmul},
      {"cast(x, dtype)", "x in another dtype, such as \"f16\"; floats truncate to integers.", cast, kPrimitive},
      {"f32(x)", "x as f32.", cast_to_name, kPrimitive},
      {"f16(x)", "x as f16.", cast_to_name, kPrimitive},
      {"bf16(x)", "x as bf16.", cast_to_name, kPrimitive},
      {"f64(x)", "x as f64.", cast_to_name, kPrimitive},
      {"i32(x)", "x as i32, truncated.", cast_to_name, kPrimitive},
      {"i64(x)", "x as i64, truncated.", cast_to_name, kPrimitive},
      {"bool(x)", "x != 0.", cast_to_name, kPrimitive},
      {"clone(x)", "x itself, for text taken from PyTorch.", identity, kPrimitive, "contiguous detach"},
      {"sigmoid(x)", "1 / (1 + exp(-x)).", unary, kPrimitive},
  };
  return kRows;
}

}  // namespace kerf::ir
