#include "ir/expression/value.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kerf::ir {
namespace {

DType default_dtype(const Value& value) {
  switch (value.kind) {
    case ValueKind::tensor: return value.tensor.dtype();
    case ValueKind::extent: return DType::i64;
    case ValueKind::boolean: return DType::boolean;
    default: return DType::f32;
  }
}

int kind_rank(DType dtype) { return is_float(dtype) ? 2 : dtype == DType::boolean ? 0 : 1; }

/// The scalar expression of literals and extents again, in double precision.
T widen(Ops& ops, T x) {
  const auto is_float_map = [&](NodeId id) {
    const Node& node = ops.builder().node(id);
    return is<MapAttr>(node) && is_float(node.dtype);
  };
  std::set<NodeId> reached{x.id};  // visited from the largest id down, rebuilt from the smallest up
  for (auto next = reached.rbegin(); next != reached.rend(); ++next)
    if (is_float_map(*next))
      for (const NodeId arg : ops.builder().node(*next).args) reached.insert(arg);
  std::map<NodeId, T> wide;
  for (const NodeId id : reached) {
    const Node node = ops.builder().node(id);
    if (is<ConstantAttr>(node) && is_float(node.dtype)) {
      wide[id] = ops.constant(attr<ConstantAttr>(node).value, DType::f64);
    } else if (!is_float_map(id)) {
      wide[id] = T{&ops, id};
    } else if (const MapOp op = attr<MapAttr>(node).op; op == MapOp::cast) {
      wide[id] = ops.cast(wide[node.args[0]], DType::f64);
    } else {
      std::vector<T> args;
      for (const NodeId arg : node.args) args.push_back(wide[arg]);
      wide[id] = ops.map(op, args);
    }
  }
  return ops.cast(wide[x.id], DType::f64);
}

T integer_constant(Ops& ops, const Dim& extent, DType dtype) {
  const std::int64_t value = extent.constant();
  const bool fits = dtype == DType::i32   ? value == static_cast<std::int32_t>(value)
                    : dtype == DType::i64 ? std::abs(static_cast<double>(value)) <= 0x1.0p53
                                          : true;
  if (!fits) ops.fail(std::to_string(value) + " does not fit " + std::string(dtype_name(dtype)) + " exactly");
  return ops.constant(static_cast<double>(value), dtype);
}

}  // namespace

std::optional<double> Value::number() const {
  if (kind == ValueKind::real) return real;
  if (kind == ValueKind::boolean) return boolean ? 1 : 0;
  if (kind == ValueKind::extent && extent.is_constant()) return static_cast<double>(extent.constant());
  if (kind == ValueKind::tensor && tensor.id >= 0) {
    const Node& node = tensor.ops->builder().node(tensor.id);
    if (is<ConstantAttr>(node)) return attr<ConstantAttr>(node).value;
  }
  return std::nullopt;
}

std::string Value::describe() const {
  switch (kind) {
    case ValueKind::none: return "none";
    case ValueKind::tensor: return "a tensor " + std::string(dtype_name(tensor.dtype())) + to_string(tensor.shape());
    case ValueKind::extent:
      return extent.is_constant() ? "the integer " + extent.to_string() : "the extent " + extent.to_string();
    case ValueKind::real: return "the number " + std::to_string(real);
    case ValueKind::boolean: return boolean ? "true" : "false";
    case ValueKind::text: return "the text \"" + text + "\"";
    case ValueKind::list: return "a list";
  }
  return "";
}

T to_tensor(Ops& ops, const Value& value, DType dtype) {
  switch (value.kind) {
    case ValueKind::tensor:
      if (value.weak && dtype == DType::f64 && !ops.failed()) return widen(ops, value.tensor);
      return ops.cast(value.tensor, dtype);
    case ValueKind::extent:
      return value.extent.is_constant() ? integer_constant(ops, value.extent, dtype)
                                        : ops.value_of(value.extent, dtype);
    case ValueKind::real: return ops.constant(value.real, dtype);
    case ValueKind::boolean: return ops.constant(value.boolean ? 1 : 0, dtype);
    default: ops.fail("expected a tensor or a number, not " + value.describe()); return T{&ops, -1};
  }
}

T to_tensor(Ops& ops, const Value& value) { return to_tensor(ops, value, default_dtype(value)); }

std::vector<T> coerce(Ops& ops, const std::vector<Value>& values) {
  std::optional<DType> strong, weak;
  for (const auto& value : values) {
    auto& target = value.weak ? weak : strong;
    target = target ? promote(*target, default_dtype(value)) : default_dtype(value);
  }
  DType dtype = strong ? *strong : weak.value_or(DType::f32);
  if (strong && weak && kind_rank(*weak) > kind_rank(*strong)) dtype = is_float(*weak) ? DType::f32 : DType::i64;
  std::vector<T> tensors;
  for (const auto& value : values) tensors.push_back(to_tensor(ops, value, dtype));
  return tensors;
}

}  // namespace kerf::ir
