// Elements chosen by indices, and the largest of a line.

#include <algorithm>

#include "ir/expression/functions.hpp"
#include "ir/expression/index.hpp"

namespace kerf::ir {
namespace {

bool check_indices(Call& call, T index) {
  if (!call.ops.failed() && !is_integer(index.dtype()))
    call.fail("index", "must hold integers, not " + std::string(dtype_name(index.dtype())));
  return !call.ops.failed();
}

/// The arguments may stand in either order: (x, index, axis), or (x, axis, index) as in PyTorch.
struct Choice {
  T index;
  int axis = 0;
};
Choice choice_of(Call& call, T x) {
  const bool swapped = call.value("axis").kind == ValueKind::tensor;
  Choice choice{call.tensor(swapped ? "axis" : "index"), 0};
  if (check_indices(call, choice.index)) choice.axis = call.axis(swapped ? "index" : "axis", x.rank());
  return choice;
}

/// out[i, j] = x[index[i, j], j] for axis 0. As in PyTorch the indices may cover a part of the other axes.
Value gather(Call& call) {
  T x = call.tensor("x");
  const auto [index, axis] = choice_of(call, x);
  if (!call.ops.failed() && index.rank() != x.rank())
    call.fail("index",
              "must have as many axes as x, " + std::to_string(x.rank()) + ", not shape " + to_string(index.shape()));
  for (int d = 0; d < x.rank() && !call.ops.failed(); ++d)
    if (d != axis && !(index.extent(d) == x.extent(d))) x = narrow(x, d, 0, index.extent(d));
  return Value::of(call.ops.gather(x, index, axis));
}

/// x with its axis replaced by those of the indices.
T taken(Call& call, T x, T index, int axis) {
  if (call.ops.failed()) return x;
  Shape line(static_cast<std::size_t>(x.rank()), Dim(1)), shape(x.shape().begin(), x.shape().begin() + axis);
  line[static_cast<std::size_t>(axis)] = element_count(index.shape());
  for (const Dim& extent : index.shape()) shape.push_back(extent);
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  const T flat = call.ops.gather(x, call.ops.reshape(index, std::move(line)), axis);
  return call.ops.reshape(flat, std::move(shape));
}

Value take(Call& call) {
  T x = call.tensor("x");
  const T index = call.tensor("index");
  if (!check_indices(call, index)) return {};
  if (!call.has("axis")) {
    x = call.ops.reshape(x, {element_count(x.shape())});
    return Value::of(taken(call, x, index, 0));
  }
  return Value::of(taken(call, x, index, call.axis("axis", x.rank())));
}

Value index_select(Call& call) {
  const T x = call.tensor("x");
  const auto [index, axis] = choice_of(call, x);
  if (call.ops.failed()) return {};
  if (index.rank() != 1) call.fail("index", "must have one axis, not shape " + to_string(index.shape()));
  return Value::of(taken(call, x, index, axis));
}

Value embedding(Call& call) {
  const T index = call.tensor("index"), weight = call.tensor("weight");
  if (!check_indices(call, index)) return {};
  if (weight.rank() != 2) call.fail("weight", "must be a matrix, not shape " + to_string(weight.shape()));
  return Value::of(taken(call, weight, index, 0));
}

Value topk(Call& call) {
  const T x = call.tensor("x");
  if (!call.ops.failed() && x.rank() == 0) call.fail("x", "must have an axis");
  if (call.ops.failed()) return {};
  const int axis = call.axis("axis", x.rank());
  const T indices = call.ops.top(x, axis, call.extent("k"), call.flag("largest"));
  const T values = call.ops.gather(x, indices, axis);
  Value pair = Value::of_list({Value::of(values), Value::of(indices)});
  pair.indices = [indices] { return Value::of(indices); };
  return pair;
}

}  // namespace

std::span<const FunctionRow> gather_functions() {
  static constexpr FunctionRow kRows[] = {
      {"gather(x, index, axis)", "out[i, j] = x[index[i, j], j] for axis 0; index has as many axes as x.", gather,
       kPrimitive},
      {"take(x, index, axis=none)", "x with its axis replaced by those of index; without an axis, of the flat x.",
       take},
      {"index_select(x, index, axis)", "The slices of x that a vector of indices names.", index_select},
      {"embedding(index, weight)", "The rows of a matrix that the indices name.", embedding},
      {"topk(x, k, axis=-1, largest=true, sorted=true)",
       "[values, indices] of the k largest (or smallest) in order; ties: the lower index first.", topk},
  };
  return kRows;
}

}  // namespace kerf::ir
