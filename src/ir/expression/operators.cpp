#include "ir/expression/operators.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "ir/graph_fold.hpp"

namespace kerf::ir {
namespace {

constexpr std::array<std::pair<std::string_view, MapOp>, 18> kOperators{{{"+", MapOp::add},
                                                                         {"-", MapOp::sub},
                                                                         {"*", MapOp::mul},
                                                                         {"/", MapOp::div},
                                                                         {"//", MapOp::floor_div},
                                                                         {"%", MapOp::remainder},
                                                                         {"**", MapOp::pow},
                                                                         {"<", MapOp::less},
                                                                         {"<=", MapOp::less_equal},
                                                                         {">", MapOp::greater},
                                                                         {">=", MapOp::greater_equal},
                                                                         {"==", MapOp::equal},
                                                                         {"!=", MapOp::not_equal},
                                                                         {"&", MapOp::logical_and},
                                                                         {"|", MapOp::logical_or},
                                                                         {"^", MapOp::logical_xor},
                                                                         {"and", MapOp::logical_and},
                                                                         {"or", MapOp::logical_or}}};

MapOp operator_of(std::string_view symbol) {
  for (const auto& [known, op] : kOperators)
    if (known == symbol) return op;
  KERF_CHECK(false, "unknown operator");
  return MapOp::add;
}

bool is_logic(MapOp op) { return facts_of(op).arguments == Arguments::bools; }

bool is_bool(const Value& value) {
  return value.kind == ValueKind::boolean ||
         (value.kind == ValueKind::tensor && value.tensor.dtype() == DType::boolean);
}

/// base ** exponent by repeated multiplication; nothing when that is not an integer or far too large.
std::optional<Dim> integer_power(const Dim& base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 64 || (!base.is_constant() && exponent > 8)) return std::nullopt;
  Dim power = 1;
  for (std::int64_t i = 0; i < exponent; ++i) power = power * base;
  if (base.is_constant() && !power.is_constant()) return std::nullopt;  // overflow
  return power;
}

std::optional<Value> on_extents(MapOp op, const Dim& a, const Dim& b) {
  const bool constant = a.is_constant() && b.is_constant();
  const bool by_zero = b == Dim(0);
  switch (op) {
    case MapOp::add: return Value::of(a + b);
    case MapOp::sub: return Value::of(a - b);
    case MapOp::mul: return Value::of(a * b);
    case MapOp::floor_div:
      if (by_zero) return std::nullopt;
      return Value::of(floor_div(a, b));
    case MapOp::remainder:
      if (by_zero) return std::nullopt;
      return Value::of(remainder(a, b));
    case MapOp::pow:
      if (b.is_constant())
        if (auto power = integer_power(a, b.constant())) return Value::of(std::move(*power));
      return std::nullopt;
    default: break;
  }
  if (constant && is_comparison(op)) {  // exactly, also beyond 2^53
    const std::int64_t x = a.constant(), y = b.constant();
    const bool result = op == MapOp::less            ? x < y
                        : op == MapOp::less_equal    ? x <= y
                        : op == MapOp::greater       ? x > y
                        : op == MapOp::greater_equal ? x >= y
                        : op == MapOp::equal         ? x == y
                                                     : x != y;
    return Value::of_bool(result);
  }
  return std::nullopt;
}

std::optional<Value> on_literals(Ops& ops, MapOp op, const Value& a, const Value& b) {
  if (a.kind == ValueKind::tensor || b.kind == ValueKind::tensor) return std::nullopt;
  const auto x = a.number(), y = b.number();
  if (!x || !y) return std::nullopt;
  if (*y == 0 && (op == MapOp::div || op == MapOp::floor_div || op == MapOp::remainder)) {
    ops.fail("division by zero");
    return Value{};
  }
  const auto folded = fold_map(op, {*x, *y}, DType::f64, DType::f64);
  if (!folded) return std::nullopt;
  return is_comparison(op) || is_logic(op) ? Value::of_bool(*folded != 0) : Value::of_real(*folded);
}

/// x ** 2 and the like as multiplications, which is what everybody means by them.
std::optional<T> small_power(T x, double exponent) {
  if (exponent == 0.5) return apply(MapOp::sqrt, x);
  if (exponent == -0.5) return apply(MapOp::rsqrt, x);
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == 4) {
    const T square = x * x;
    return square * square;
  }
  if (exponent == -1 && is_float(x.dtype())) return apply(MapOp::reciprocal, x);
  if (exponent == -2 && is_float(x.dtype())) return apply(MapOp::reciprocal, x * x);
  return std::nullopt;
}

}  // namespace

Value binary_operation(Ops& ops, std::string_view symbol, const Value& a, const Value& b) {
  if (ops.failed()) return {};
  if (symbol == "+" && a.kind == ValueKind::list && b.kind == ValueKind::list) {
    std::vector<Value> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    return Value::of_list(std::move(items));
  }
  for (const Value* operand : {&a, &b})
    if (!operand->is_numeric()) {
      ops.fail("operator '" + std::string(symbol) + "' does not apply to " + operand->describe());
      return {};
    }
  if (symbol == "@") {
    const auto args = coerce(ops, {a, b});
    return Value::of(ops.matmul(args[0], args[1]));
  }
  const MapOp op = operator_of(symbol);
  const bool symbolic = symbol == "&" || symbol == "|" || symbol == "^";
  if (symbolic && !(is_bool(a) && is_bool(b))) {
    ops.fail("operator '" + std::string(symbol) + "' needs bool operands, not " + a.describe() + " and " +
             b.describe());
    return {};
  }
  if (a.kind == ValueKind::extent && b.kind == ValueKind::extent)
    if (auto result = on_extents(op, a.extent, b.extent)) return *result;
  if (auto result = on_literals(ops, op, a, b)) return *result;
  Value result;
  if (is_logic(op)) {
    result =
        Value::of(apply(op, ops.cast(to_tensor(ops, a), DType::boolean), ops.cast(to_tensor(ops, b), DType::boolean)));
  } else {
    const auto args = coerce(ops, {a, b});
    std::optional<T> power;
    if (op == MapOp::pow)
      if (const auto exponent = b.number()) power = small_power(args[0], *exponent);
    result = Value::of(power ? *power : apply(op, args[0], args[1]));
  }
  result.weak = a.weak && b.weak;
  return result;
}

Value unary_operation(Ops& ops, std::string_view symbol, const Value& a) {
  if (ops.failed()) return {};
  if (!a.is_numeric()) {
    ops.fail("operator '" + std::string(symbol) + "' does not apply to " + a.describe());
    return {};
  }
  Value result;
  if (symbol == "not" || symbol == "~") {
    if (symbol == "~" && !is_bool(a)) {
      ops.fail("operator '~' needs a bool operand, not " + a.describe());
      return {};
    }
    if (a.kind == ValueKind::boolean) return Value::of_bool(!a.boolean);
    result = Value::of(apply(MapOp::logical_not, to_tensor(ops, a)));
  } else if (symbol == "+") {
    return a;
  } else if (a.kind == ValueKind::extent) {
    return Value::of(Dim(0) - a.extent);
  } else if (a.kind == ValueKind::real) {
    return Value::of_real(-a.real);
  } else if (is_bool(a)) {
    ops.fail("operator '-' does not apply to a bool; use 'not'");
    return {};
  } else {
    result = Value::of(-to_tensor(ops, a));
  }
  result.weak = a.weak;
  return result;
}

}  // namespace kerf::ir
