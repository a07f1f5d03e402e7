#include "ir/graph_fold.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace kerf::ir {
namespace {

double extreme(double a, double b, bool smaller) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return (a < b) == smaller ? a : b;
}

double remainder_of(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::optional<double> binary(MapOp op, double a, double b) {
  switch (op) {
    case MapOp::add: return a + b;
    case MapOp::sub: return a - b;
    case MapOp::mul: return a * b;
    case MapOp::div: return a / b;
    case MapOp::floor_div: return std::floor(a / b);
    case MapOp::remainder: return remainder_of(a, b);
    case MapOp::pow: return std::pow(a, b);
    case MapOp::minimum: return extreme(a, b, true);
    case MapOp::maximum: return extreme(a, b, false);
    case MapOp::less: return a < b;
    case MapOp::less_equal: return a <= b;
    case MapOp::greater: return a > b;
    case MapOp::greater_equal: return a >= b;
    case MapOp::equal: return a == b;
    case MapOp::not_equal: return a != b;
    case MapOp::logical_and: return a != 0 && b != 0;
    case MapOp::logical_or: return a != 0 || b != 0;
    case MapOp::logical_xor: return (a != 0) != (b != 0);
    default: return std::nullopt;
  }
}

std::optional<double> unary(MapOp op, double x) {
  switch (op) {
    case MapOp::neg: return -x;
    case MapOp::abs: return std::fabs(x);
    case MapOp::sign: return std::isnan(x) ? x : static_cast<double>(x > 0) - static_cast<double>(x < 0);
    case MapOp::floor: return std::floor(x);
    case MapOp::ceil: return std::ceil(x);
    case MapOp::round: return std::nearbyint(x);
    case MapOp::trunc: return std::trunc(x);
    case MapOp::exp: return std::exp(x);
    case MapOp::exp2: return std::exp2(x);
    case MapOp::expm1: return std::expm1(x);
    case MapOp::log: return std::log(x);
    case MapOp::log2: return std::log2(x);
    case MapOp::log1p: return std::log1p(x);
    case MapOp::sqrt: return std::sqrt(x);
    case MapOp::rsqrt: return 1 / std::sqrt(x);
    case MapOp::reciprocal: return 1 / x;
    case MapOp::sin: return std::sin(x);
    case MapOp::cos: return std::cos(x);
    case MapOp::tan: return std::tan(x);
    case MapOp::tanh: return std::tanh(x);
    case MapOp::sigmoid: return 1 / (1 + std::exp(-x));
    case MapOp::erf: return std::erf(x);
    case MapOp::logical_not: return x == 0;
    case MapOp::is_nan: return std::isnan(x);
    default: return std::nullopt;
  }
}

/// `value` as the dtype holds it, or nothing when that is not certain to be exact.
std::optional<double> in_dtype(double value, DType dtype) {
  if (is_float(dtype)) return value;
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  const double limit = dtype == DType::i32 ? 0x1.0p31 : 0x1.0p53;
  const double whole = std::trunc(value);
  if (!(whole > -limit && whole < limit)) return std::nullopt;
  return whole == 0 ? 0 : whole;  // no negative zero
}

}  // namespace

std::optional<double> fold_map(MapOp op, const std::vector<double>& values, DType argument, DType result) {
  std::optional<double> value;
  if (op == MapOp::cast) {
    value = values[0];
  } else if (op == MapOp::select) {
    value = values[0] != 0 ? values[1] : values[2];
  } else if (values.size() == 2) {
    // Integer division by zero and negative integer powers are left to whoever executes them.
    if (is_integer(argument) && (op == MapOp::floor_div || op == MapOp::remainder) && values[1] == 0)
      return std::nullopt;
    if (is_integer(argument) && op == MapOp::pow && values[1] < 0) return std::nullopt;
    value = binary(op, values[0], values[1]);
  } else {
    value = unary(op, values[0]);
  }
  return value ? in_dtype(*value, result) : std::nullopt;
}

Node fold_constants(Node node, const Graph& graph) {
  if (!is<MapAttr>(node) || !node.shape.empty()) return node;
  std::vector<double> values;
  for (const NodeId arg : node.args) {
    if (!is<ConstantAttr>(graph[arg])) return node;
    values.push_back(attr<ConstantAttr>(graph[arg]).value);
  }
  const auto value = fold_map(attr<MapAttr>(node).op, values, graph[node.args.back()].dtype, node.dtype);
  if (!value) return node;
  return Node{ConstantAttr{*value}, node.dtype, {}, {}, std::move(node.origin)};
}

}  // namespace kerf::ir
