// Normalisations.

#include <algorithm>
#include <numeric>

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> axes;
  for (int d = first; d < rank; ++d) axes.push_back(d);
  return axes;
}

/// The axes that a layer norm runs over: `axes`, or as many trailing ones as `normalized_shape` names, or the last.
std::vector<int> normalized_axes(Call& call, T x) {
  const int rank = x.rank();
  if (call.has("axes")) return call.ops.axes(call.axes("axes", rank), rank);
  if (!call.has("normalized_shape")) return axes_from(std::max(rank - 1, 0), rank);
  const Shape named = call.extents("normalized_shape");
  const auto count = static_cast<int>(named.size());
  bool matches = count > 0 && count <= rank;
  for (int i = 0; matches && i < count; ++i)
    matches = call.ops.builder().same_extent(named[static_cast<std::size_t>(i)], x.extent(rank - count + i));
  if (!matches && !call.ops.failed())
    call.fail("normalized_shape", to_string(named) + " is not the end of the shape " + to_string(x.shape()));
  return axes_from(std::max(rank - count, 0), rank);
}

/// `parameter` shaped so that its axes stand at `axes` of x.
T placed(T parameter, T x, const std::vector<int>& axes) {
  if (x.ops->failed() || parameter.rank() != static_cast<int>(axes.size())) return parameter;  // broadcasts as it is
  Shape shape(x.shape().size(), Dim(1));
  for (std::size_t i = 0; i < axes.size(); ++i) shape[static_cast<std::size_t>(axes[i])] = parameter.shape()[i];
  return x.ops->reshape(parameter, std::move(shape));
}

/// x * weight + bias with those that are given.
T scaled(Call& call, T normal, T x, const std::vector<int>& axes) {
  if (call.has("weight")) normal = normal * placed(call.tensor("weight"), x, axes);
  if (call.has("bias")) normal = normal + placed(call.tensor("bias"), x, axes);
  return normal;
}

T float_input(Call& call, int least_rank) {
  const T x = call.ops.to_float(call.tensor("x"));
  if (!call.ops.failed() && x.rank() < least_rank)
    call.fail("x", "must have at least " + std::to_string(least_rank) + " axes, not shape " + to_string(x.shape()));
  return x;
}

Value layer_norm(Call& call) {
  const T x = float_input(call, 1);
  const std::vector<int> axes = normalized_axes(call, x);
  return Value::of(scaled(call, standardize(x, axes, call.real("eps")), x, axes));
}

Value rms_norm(Call& call) {
  const T x = float_input(call, 1);
  const std::vector<int> axes = normalized_axes(call, x);
  const T normal = x * apply(MapOp::rsqrt, mean(x * x, axes, true) + call.real("eps"));
  return Value::of(scaled(call, normal, x, axes));
}

Value group_norm(Call& call) {
  const T x = float_input(call, 2);
  const Dim groups = call.extent("num_groups");
  if (call.ops.failed()) return {};
  const Dim channels = x.extent(1);
  Dim inner = floor_div(channels, groups);
  if (groups == Dim(0) || !call.ops.builder().same_extent(inner * groups, channels)) {
    call.fail("num_groups", "= " + groups.to_string() + " does not divide " + channels.to_string() + " channels");
    return {};
  }
  for (int d = 2; d < x.rank(); ++d) inner = inner * x.extent(d);
  const T grouped = call.ops.reshape(x, {x.extent(0), groups, inner});
  const T normal = call.ops.reshape(standardize(grouped, {2}, call.real("eps")), x.shape());
  return Value::of(scaled(call, normal, x, {1}));
}

Value instance_norm(Call& call) {
  const T x = float_input(call, 3);
  const T normal = standardize(x, axes_from(2, x.rank()), call.real("eps"));
  return Value::of(scaled(call, normal, x, {1}));
}

Value batch_norm(Call& call) {
  const T x = float_input(call, 2);
  const bool has_statistics = call.has("running_mean") && call.has("running_var");
  const bool training = call.has("training") ? call.flag("training") : !has_statistics;
  if (!training && !has_statistics) call.fail("needs running_mean and running_var when training is false");
  if (call.ops.failed()) return {};
  const double eps = call.real("eps");
  if (training) {
    std::vector<int> axes = axes_from(2, x.rank());
    axes.insert(axes.begin(), 0);
    return Value::of(scaled(call, standardize(x, axes, eps), x, {1}));
  }
  const T centre = placed(call.tensor("running_mean"), x, {1}), spread = placed(call.tensor("running_var"), x, {1});
  return Value::of(scaled(call, (x - centre) * apply(MapOp::rsqrt, spread + eps), x, {1}));
}

T normalized(Call& call, double p) {
  const T x = float_input(call, 1);
  const T size = norm(x, p, call.axes("axis", x.rank()), true);
  return x / maximum(size, call.real("eps"));
}
Value l1_normalize(Call& call) { return Value::of(normalized(call, 1)); }
Value l2_normalize(Call& call) { return Value::of(normalized(call, 2)); }
Value normalize(Call& call) { return Value::of(normalized(call, call.real("p"))); }

}  // namespace

T standardize(T x, const std::vector<int>& axes, double eps) {
  const T centred = x - mean(x, axes, true);
  return centred * apply(MapOp::rsqrt, mean(centred * centred, axes, true) + eps);
}

T along_axis(T x, int axis, int rank) {
  if (x.ops->failed() || x.rank() != 1) return x;
  Shape shape(static_cast<std::size_t>(rank), Dim(1));
  shape[static_cast<std::size_t>(axis)] = x.extent(0);
  return x.ops->reshape(x, std::move(shape));
}

std::span<const FunctionRow> normalization_functions() {
  static constexpr FunctionRow kRows[] = {
      {"layer_norm(x, normalized_shape=none, weight=none, bias=none, eps=1e-5, axes=none)",
       "Zero mean and unit variance over the trailing axes that normalized_shape names, over `axes`, or over the last.",
       layer_norm},
      {"rms_norm(x, normalized_shape=none, weight=none, eps=1e-6, axes=none, bias=none)",
       "x / sqrt(mean(x*x) + eps) over the same axes as layer_norm.", rms_norm},
      {"group_norm(x, num_groups, weight=none, bias=none, eps=1e-5)",
       "Standardises groups of channels (axis 1) with all their positions.", group_norm},
      {"instance_norm(x, weight=none, bias=none, eps=1e-5)", "Standardises each channel of each sample.",
       instance_norm},
      {"batch_norm(x, running_mean=none, running_var=none, weight=none, bias=none, training=none, momentum=0.1, "
       "eps=1e-5)",
       "Per channel (axis 1): by the batch's own statistics, or by running ones when they are given (unless "
       "training=true). Running statistics are not updated.",
       batch_norm},
      {"l2_normalize(x, axis=-1, eps=1e-12)", "x / max(norm(x, 2), eps).", l2_normalize},
      {"l1_normalize(x, axis=-1, eps=1e-12)", "x / max(norm(x, 1), eps).", l1_normalize},
      {"normalize(x, p=2, axis=1, eps=1e-12)", "x / max(norm(x, p), eps), with PyTorch's default axis.", normalize},
  };
  return kRows;
}

}  // namespace kerf::ir
