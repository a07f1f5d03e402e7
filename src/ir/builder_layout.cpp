// Reshape, transpose, broadcast, concat: nodes that only move elements.

#include <algorithm>
#include <numeric>

#include "ir/builder.hpp"
#include "ir/builder_check.hpp"

namespace kerf::ir {

Result<NodeId> Builder::reshape(NodeId x, Shape shape) {
  const Shape& from = node(x).shape;
  const Dim count = element_count(from);
  const auto is_open = [](const Dim& extent) { return extent.is_constant() && extent.constant() == -1; };
  const auto open = std::find_if(shape.begin(), shape.end(), is_open);
  const std::string what = "reshape of " + to_string(from) + " to " + to_string(shape);
  if (open != shape.end()) {
    *open = 1;
    if (std::find_if(shape.begin(), shape.end(), is_open) != shape.end())
      return fail(Errc::invalid_input, what + ": only one extent may be -1");
    const Dim rest = element_count(shape);
    KERF_TRY_VOID(require_at_least(*this, rest, 1, what + ": the product of the other extents"));
    *open = floor_div(count, rest);
  }
  for (const auto& extent : shape) {
    KERF_TRY_VOID(require_at_least(*this, extent, 0, what + ": an extent"));
  }
  if (!same_extent(element_count(shape), count))
    return fail(Errc::invalid_input, what + ": " + count.to_string() + " elements do not fill the new shape");
  if (std::equal(shape.begin(), shape.end(), from.begin(), from.end())) return x;
  if (is<ReshapeAttr>(node(x))) x = node(x).args[0];
  if (std::equal(shape.begin(), shape.end(), node(x).shape.begin(), node(x).shape.end())) return x;
  return add(Node{ReshapeAttr{}, node(x).dtype, std::move(shape), {x}, {}});
}

Result<NodeId> Builder::transpose(NodeId x, const std::vector<int>& order) {
  const Shape from = node(x).shape;
  std::vector<int> axes = order;
  for (int& axis : axes) {
    KERF_TRY(axis, normal_axis(axis, from.size(), "transpose"));
  }
  KERF_TRY(const std::vector<int> sorted, normal_axes(axes, from.size(), "transpose"));
  if (sorted.size() != from.size())
    return fail(Errc::invalid_input, "transpose: " + std::to_string(order.size()) + " axes for a tensor of rank " +
                                         std::to_string(from.size()));
  if (axes == sorted) return x;
  ViewAttr attributes;
  attributes.axes.resize(from.size());
  Shape shape;
  for (std::size_t out = 0; out < axes.size(); ++out) {
    const auto in = static_cast<std::size_t>(axes[out]);
    attributes.axes[in].terms = {{static_cast<int>(out), 1}};
    shape.push_back(from[in]);
  }
  return view(x, std::move(attributes), std::move(shape));
}

Result<NodeId> Builder::broadcast_to(NodeId x, Shape shape) {
  const Shape from = node(x).shape;
  const auto mismatch = [&] {
    return fail(Errc::invalid_input, "broadcast_to: " + to_string(from) + " does not stretch to " + to_string(shape));
  };
  if (from.size() > shape.size()) return mismatch();
  ViewAttr attributes;
  const std::size_t lead = shape.size() - from.size();
  bool identity = lead == 0;
  for (std::size_t in = 0; in < from.size(); ++in) {
    const Dim& extent = shape[lead + in];
    ViewAttr::AxisMap map;
    if (same_extent(from[in], extent))
      map.terms = {{static_cast<int>(lead + in), 1}};
    else if (from[in].is_one())
      identity = false;
    else
      return mismatch();
    attributes.axes.push_back(std::move(map));
  }
  if (identity) return x;
  for (const auto& extent : shape) {
    KERF_TRY_VOID(require_at_least(*this, extent, 0, "broadcast_to: an extent"));
  }
  return view(x, std::move(attributes), std::move(shape));
}

Result<NodeId> Builder::concat(std::vector<NodeId> args, int axis) {
  if (args.empty()) return fail(Errc::invalid_input, "concat of nothing");
  Shape shape = node(args[0]).shape;
  KERF_TRY(axis, normal_axis(axis, shape.size(), "concat"));
  const auto along = static_cast<std::size_t>(axis);
  DType dtype = node(args[0]).dtype;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Shape& other = node(args[i]).shape;
    bool fits = other.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = d == along || same_extent(shape[d], other[d]);
    if (!fits)
      return fail(Errc::invalid_input, "concat along axis " + std::to_string(axis) + ": shapes " +
                                           to_string(node(args[0]).shape) + " and " + to_string(other) + " differ");
    shape[along] = shape[along] + other[along];
    dtype = promote(dtype, node(args[i]).dtype);
  }
  for (NodeId& arg : args) arg = cast(arg, dtype);
  if (args.size() == 1) return args[0];
  return add(Node{ConcatAttr{axis}, dtype, std::move(shape), std::move(args), {}});
}

}  // namespace kerf::ir
