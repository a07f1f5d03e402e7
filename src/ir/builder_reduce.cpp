// Reductions, scans and contractions.

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/builder.hpp"
#include "ir/builder_check.hpp"

namespace kerf::ir {
namespace {

bool is_arg(ReduceOp op) { return op == ReduceOp::argmax || op == ReduceOp::argmin; }

}  // namespace

Result<NodeId> Builder::reduce(ReduceOp op, NodeId x, std::vector<int> axes, bool keepdims) {
  const Shape from = node(x).shape;
  const std::string what(reduce_op_name(op));
  KERF_TRY(axes, normal_axes(std::move(axes), from.size(), what));
  if (is_arg(op) && axes.size() != 1) {
    if (!axes.empty()) return fail(Errc::invalid_input, what + " takes one axis, or none for the whole tensor");
    KERF_TRY(const NodeId flat, reshape(x, {element_count(from)}));
    KERF_TRY(const NodeId index, reduce(op, flat, {0}, false));
    return keepdims ? reshape(index, Shape(from.size(), Dim(1))) : index;
  }
  if (axes.empty()) {
    axes.resize(from.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (node(x).dtype == DType::boolean) {
    if (op == ReduceOp::max) op = ReduceOp::any;
    if (op == ReduceOp::min) op = ReduceOp::all;
    if (op != ReduceOp::any && op != ReduceOp::all) x = cast(x, DType::i64);
  }
  const bool logical = op == ReduceOp::any || op == ReduceOp::all;
  if (logical) x = cast(x, DType::boolean);
  if (axes.empty()) return x;
  Shape shape;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
    if (reduced && op != ReduceOp::sum && op != ReduceOp::prod && !logical) {
      KERF_TRY_VOID(require_at_least(*this, from[d], 1, what + " of " + to_string(from) + ": the reduced extent"));
    }
    if (!reduced) shape.push_back(from[d]);
    if (reduced && keepdims) shape.emplace_back(1);
  }
  const DType dtype = is_arg(op) ? DType::i64 : node(x).dtype;
  return add(Node{ReduceAttr{op, std::move(axes), keepdims}, dtype, std::move(shape), {x}, {}});
}

Result<NodeId> Builder::scan(ScanAttr attr, NodeId x) {
  if (node(x).shape.empty()) {
    KERF_TRY(x, reshape(x, {Dim(1)}));
    KERF_TRY(const NodeId scanned, scan(attr, x));
    return reshape(scanned, {});
  }
  KERF_TRY(attr.axis, normal_axis(attr.axis, node(x).shape.size(), "scan"));
  if (node(x).dtype == DType::boolean) x = cast(x, DType::i64);
  return add(Node{attr, node(x).dtype, node(x).shape, {x}, {}});
}

Result<NodeId> Builder::contract(NodeId lhs, NodeId rhs, ContractAttr attr) {
  std::map<int, Dim> extents;
  const auto describe = [&] {
    return "contraction of " + to_string(node(lhs).shape) + " and " + to_string(node(rhs).shape);
  };
  const auto bind = [&](const std::vector<int>& labels, NodeId operand) -> Status {
    const Shape& shape = node(operand).shape;
    if (labels.size() != shape.size()) return fail(Errc::invalid_input, describe() + ": one label per axis is needed");
    std::vector<int> sorted = labels;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return fail(Errc::invalid_input, describe() + ": a label occurs twice in one operand");
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const auto [place, inserted] = extents.try_emplace(labels[d], shape[d]);
      if (!inserted && !same_extent(place->second, shape[d]))
        return fail(Errc::invalid_input,
                    describe() + ": extents " + place->second.to_string() + " and " + shape[d].to_string() + " differ");
    }
    return {};
  };
  KERF_TRY_VOID(bind(attr.lhs, lhs));
  KERF_TRY_VOID(bind(attr.rhs, rhs));
  Shape shape;
  for (std::size_t i = 0; i < attr.out.size(); ++i) {
    const auto found = extents.find(attr.out[i]);
    if (found == extents.end() || std::find(attr.out.begin(), attr.out.begin() + static_cast<long>(i), attr.out[i]) !=
                                      attr.out.begin() + static_cast<long>(i))
      return fail(Errc::invalid_input, describe() + ": an output label is unknown or occurs twice");
    shape.push_back(found->second);
  }
  DType dtype = promote(node(lhs).dtype, node(rhs).dtype);
  if (dtype == DType::boolean) dtype = DType::i64;
  lhs = cast(lhs, dtype);
  rhs = cast(rhs, dtype);
  return add(Node{std::move(attr), dtype, std::move(shape), {lhs, rhs}, {}});
}

Result<NodeId> Builder::matmul(NodeId a, NodeId b) {
  const Shape left = node(a).shape, right = node(b).shape;
  const auto mismatch = [&](const std::string& why) {
    return fail(Errc::invalid_input, "matmul: shapes " + to_string(left) + " and " + to_string(right) + " " + why);
  };
  if (left.empty() || right.empty()) return mismatch("must have at least one axis");
  const Dim& inner = left.back();
  if (!same_extent(inner, right[right.size() < 2 ? 0 : right.size() - 2]))
    return mismatch("do not agree on the summed extent (" + inner.to_string() + " against " +
                    right[right.size() < 2 ? 0 : right.size() - 2].to_string() + ")");
  constexpr int kRow = 0, kInner = 1, kColumn = 2, kBatch = 3;
  const std::size_t left_batch = left.size() < 2 ? 0 : left.size() - 2;
  const std::size_t right_batch = right.size() < 2 ? 0 : right.size() - 2;
  const std::size_t batches = std::max(left_batch, right_batch);
  const auto batch_shape =
      broadcast_shapes(*this, Shape(left.begin(), left.begin() + static_cast<long>(left_batch)),
                       Shape(right.begin(), right.begin() + static_cast<long>(right_batch)), "batch");
  if (!batch_shape) return mismatch("have batch extents that do not broadcast");
  ContractAttr attr;
  // A batch axis of extent 1 that is stretched is left out of its operand.
  const auto squeeze = [&](NodeId& operand, const Shape& shape, std::size_t count, std::vector<int>& labels) -> Status {
    Shape kept;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool is_batch = d < count;
      if (is_batch && shape[d].is_one() && !(*batch_shape)[batches - count + d].is_one()) continue;
      kept.push_back(shape[d]);
      if (is_batch) labels.push_back(kBatch + static_cast<int>(batches - count + d));
    }
    KERF_TRY(operand, reshape(operand, kept));
    return {};
  };
  KERF_TRY_VOID(squeeze(a, left, left_batch, attr.lhs));
  KERF_TRY_VOID(squeeze(b, right, right_batch, attr.rhs));
  for (std::size_t d = 0; d < batches; ++d) attr.out.push_back(kBatch + static_cast<int>(d));
  if (left.size() > 1) {
    attr.lhs.push_back(kRow);
    attr.out.push_back(kRow);
  }
  attr.lhs.push_back(kInner);
  attr.rhs.push_back(kInner);
  if (right.size() > 1) {
    attr.rhs.push_back(kColumn);
    attr.out.push_back(kColumn);
  }
  return contract(a, b, std::move(attr));
}

}  // namespace kerf::ir
