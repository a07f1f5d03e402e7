// Elementwise arithmetic, comparison, logic and casts.

#include <cmath>
#include <limits>
#include <vector>

#include "base/text.hpp"
#include "ir/expression/functions.hpp"
#include "ir/expression/operators.hpp"

namespace kerf::ir {
namespace {

std::string name_in(std::string_view signature) { return std::string(signature.substr(0, signature.find('('))); }

/// The operator that map_ops.def gives a function's name to.
MapOp primitive(std::string_view name) {
  for (const MapOp op : all_map_ops()) {
    if (name_in(facts_of(op).signature) == name) return op;
    for (const auto& other : split(facts_of(op).other_names, ' '))
      if (other == name) return op;
  }
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

/// What is more than one operator, or takes its arguments in a way of its own.
std::vector<FunctionRow> composed_functions() {
  return {
      {"log10(x)", "Logarithm to base 10.", log10},
      {"square(x)", "x * x.", square, kPrimitive},
      {"frac(x)", "x - trunc(x).", frac},
      {"isinf(x)", "True where x is infinite.", isinf, kPrimitive},
      {"isfinite(x)", "True where x is neither infinite nor NaN.", isfinite, kPrimitive},
      {"pow(x, exponent)", "x ** exponent.", power, kPrimitive, "power"},
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
  };
}

}  // namespace

std::span<const FunctionRow> pointwise_functions() {
  static const std::vector<FunctionRow> kRows = [] {
    std::vector<FunctionRow> rows = composed_functions();
    for (const MapOp op : all_map_ops()) {
      const MapOpFacts& facts = facts_of(op);
      if (facts.signature[0] == '\0') continue;
      const bool joins = facts.arguments == Arguments::bools && facts.arity == 2;
      rows.push_back({facts.signature, facts.summary,
                      facts.arity == 1 ? unary
                      : joins          ? logical
                                       : binary,
                      kPrimitive, facts.other_names});
    }
    return rows;
  }();
  return kRows;
}
}  // namespace kerf::ir
