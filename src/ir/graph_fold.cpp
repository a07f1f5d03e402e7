#include "ir/graph_fold.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace kerf::ir {
namespace {

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
    value = map_scalar(op, values[0], values[1]);
  } else {
    value = map_scalar(op, values[0], 0);
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
