// Functions that move elements without computing.

#include <algorithm>
#include <numeric>

#include "ir/builder_check.hpp"
#include "ir/expression/functions.hpp"
#include "ir/expression/index.hpp"

namespace kerf::ir {
namespace {

/// The list of tensors in parameter x, brought to one dtype; never empty unless failed.
std::vector<T> tensor_list(Call& call) {
  const Value& list = call.value("x");
  const bool numeric = std::all_of(list.items.begin(), list.items.end(), [](const Value& v) { return v.is_numeric(); });
  if (list.kind != ValueKind::list || list.items.empty() || !numeric) {
    call.fail("x", "must be a list of tensors, such as [a, b]");
    return {};
  }
  return coerce(call.ops, list.items);
}

Value cat(Call& call) {
  const std::vector<T> tensors = tensor_list(call);
  if (call.ops.failed()) return {};
  return Value::of(call.ops.concat(tensors, call.axis("axis", tensors[0].rank())));
}

Value stack(Call& call) {
  std::vector<T> tensors = tensor_list(call);
  if (call.ops.failed()) return {};
  const int axis = call.axis("axis", tensors[0].rank() + 1);
  for (T& tensor : tensors) tensor = unsqueeze(tensor, axis);
  return Value::of(call.ops.concat(tensors, axis));
}

/// Parts of sizes `sizes` along the axis, as a list.
Value parts(Call& call, T x, int axis, const Shape& sizes) {
  std::vector<Value> list;
  Dim start = 0;
  for (const auto& size : sizes) {
    list.push_back(Value::of(narrow(x, axis, start, size)));
    start = start + size;
  }
  if (!call.ops.failed() && !call.ops.builder().same_extent(start, x.extent(axis)))
    call.fail("the parts cover " + start.to_string() + " of " + x.extent(axis).to_string());
  return Value::of_list(std::move(list));
}

constexpr std::int64_t kMaxParts = 1024;

Value chunk(Call& call) {
  const T x = call.tensor("x");
  const int axis = call.axis("axis", x.rank());
  const std::int64_t count = call.integer("chunks");
  if (!call.ops.failed() && (count < 1 || count > kMaxParts)) call.fail("chunks", "is out of range");
  if (call.ops.failed()) return {};
  const Dim extent = x.extent(axis), exact = floor_div(extent, count);
  Shape sizes(static_cast<std::size_t>(count), exact);
  if (extent.is_constant() && !(exact * Dim(count) == extent)) {  // the last part is smaller, or missing
    const std::int64_t size = ceil_div(extent, count).constant();
    sizes.clear();
    for (std::int64_t start = 0; start < extent.constant(); start += size)
      sizes.emplace_back(std::min(size, extent.constant() - start));
  }
  return parts(call, x, axis, sizes);
}

Value split(Call& call) {
  const T x = call.tensor("x");
  const int axis = call.axis("axis", x.rank());
  Shape sizes = call.extents("size");
  if (call.ops.failed()) return {};
  if (call.value("size").kind != ValueKind::list) {
    const Dim count = ceil_div(x.extent(axis), sizes[0]);
    if (!count.is_constant() || count.constant() < 1 || count.constant() > kMaxParts) {
      call.fail("size", "must give a constant number of parts");
      return {};
    }
    const Dim size = sizes[0];
    sizes.assign(static_cast<std::size_t>(count.constant()), size);
    sizes.back() = x.extent(axis) - size * (count - Dim(1));
  }
  return parts(call, x, axis, sizes);
}

Value reshape(Call& call) { return Value::of(call.ops.reshape(call.tensor("x"), call.extents("shape"))); }

Value flatten(Call& call) {
  const T x = call.tensor("x");
  if (x.rank() == 0) return Value::of(call.ops.reshape(x, {Dim(1)}));
  const int start = call.axis("start", x.rank()), end = call.axis("end", x.rank());
  if (!call.ops.failed() && start > end) call.fail("'start' stands behind 'end'");
  if (call.ops.failed()) return {};
  Shape shape(x.shape().begin(), x.shape().begin() + start);
  shape.push_back(element_count(Shape(x.shape().begin() + start, x.shape().begin() + end + 1)));
  shape.insert(shape.end(), x.shape().begin() + end + 1, x.shape().end());
  return Value::of(call.ops.reshape(x, std::move(shape)));
}

Value unflatten(Call& call) {
  const T x = call.tensor("x");
  const int axis = call.axis("axis", x.rank());
  const Shape inner = call.extents("shape");
  if (call.ops.failed()) return {};
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), inner.begin(), inner.end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return Value::of(call.ops.reshape(x, std::move(shape)));
}

Value squeeze_axes(Call& call) {
  const T x = call.tensor("x");
  const std::vector<int> axes = call.axes("axis", x.rank());
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    const bool named = axes.empty() || std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!named || !x.extent(d).is_one()) shape.push_back(x.extent(d));
  }
  return Value::of(call.ops.reshape(x, std::move(shape)));
}

Value unsqueeze_axis(Call& call) {
  const T x = call.tensor("x");
  return Value::of(unsqueeze(x, call.axis("axis", x.rank() + 1)));
}

std::vector<int> counting(int rank) {
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Value transpose(Call& call) {
  const T x = call.tensor("x");
  std::vector<int> order = counting(x.rank());
  if (call.value("dim0").kind == ValueKind::list) {
    order = call.axes("dim0", x.rank());
  } else if (!call.has("dim0")) {
    std::reverse(order.begin(), order.end());
  } else {
    if (!call.has("dim1")) call.fail("needs 'dim1' as well");
    const int first = call.axis("dim0", x.rank()), second = call.ops.failed() ? 0 : call.axis("dim1", x.rank());
    if (call.ops.failed()) return {};
    std::swap(order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]);
  }
  return Value::of(call.ops.transpose(x, order));
}

Value permute(Call& call) {
  const T x = call.tensor("x");
  return Value::of(call.ops.transpose(x, call.axes("dims", x.rank())));
}

Value movedim(Call& call) {
  const T x = call.tensor("x");
  const int from = call.axis("source", x.rank()), to = call.axis("destination", x.rank());
  if (call.ops.failed()) return {};
  std::vector<int> order = counting(x.rank());
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return Value::of(call.ops.transpose(x, order));
}

Value expand(Call& call) {
  const T x = call.tensor("x");
  Shape shape = call.extents("shape");
  const std::size_t lead = shape.size() - std::min(shape.size(), x.shape().size());
  for (std::size_t d = lead; d < shape.size(); ++d)
    if (shape[d] == Dim(-1)) shape[d] = x.shape()[d - lead];
  return Value::of(call.ops.broadcast_to(x, std::move(shape)));
}

Value repeat(Call& call) {
  const T x = call.tensor("x");
  Shape times = call.extents("repeats");
  if (call.ops.failed()) return {};
  const std::size_t rank = std::max(times.size(), x.shape().size());
  times.insert(times.begin(), rank - times.size(), Dim(1));
  ViewAttr view;
  Shape shape = times;
  for (std::size_t d = 0; d < x.shape().size(); ++d) {
    const std::size_t out = rank - x.shape().size() + d;
    const Dim extent = x.shape()[d];
    const bool repeats = !times[out].is_one();
    view.axes.push_back({Dim(0), {{static_cast<int>(out), 1}}, repeats ? std::optional(extent) : std::nullopt});
    shape[out] = extent * times[out];
  }
  for (const auto& count : times)
    if (const Status status = require_at_least(call.ops.builder(), count, 0, "a count"); !status)
      call.fail("repeats", status.error().message);
  return Value::of(call.ops.view(x, std::move(view), std::move(shape)));
}

Value repeat_interleave(Call& call) {
  const T x = call.tensor("x");
  const int axis = call.axis("axis", x.rank());
  const Dim count = call.extent("repeats");
  if (call.ops.failed()) return {};
  const T lifted = unsqueeze(x, axis + 1);
  Shape wide = lifted.shape(), shape = x.shape();
  if (call.ops.failed()) return {};
  wide[static_cast<std::size_t>(axis) + 1] = count;
  shape[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)] * count;
  return Value::of(call.ops.reshape(call.ops.broadcast_to(lifted, std::move(wide)), std::move(shape)));
}

Value flip(Call& call) {
  const T x = call.tensor("x");
  std::vector<int> axes = call.axes("axis", x.rank());
  if (axes.empty()) axes = counting(x.rank());
  std::vector<IndexItem> items(static_cast<std::size_t>(x.rank()));
  for (const int axis : axes) items[static_cast<std::size_t>(axis)].step = -1;
  return Value::of(index(x, items));
}

Value roll(Call& call) {
  T x = call.tensor("x");
  const Shape original = x.shape();
  const Shape shifts = call.extents("shifts");
  const bool flat = !call.has("axis");
  if (flat) x = call.ops.reshape(x, {element_count(original)});
  const std::vector<int> axes = flat ? std::vector<int>{0} : call.axes("axis", x.rank());
  if (!call.ops.failed() && axes.size() != shifts.size()) call.fail("needs one shift per axis");
  if (call.ops.failed()) return {};
  ViewAttr view;
  for (int d = 0; d < x.rank(); ++d) view.axes.push_back({Dim(0), {{d, 1}}, std::nullopt});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto& map = view.axes[static_cast<std::size_t>(axes[i])];
    map.offset = map.offset - shifts[i];
    map.modulo = x.extent(axes[i]);
  }
  const T rolled = call.ops.view(x, std::move(view), x.shape());
  return Value::of(flat ? call.ops.reshape(rolled, original) : rolled);
}

Value pad(Call& call) {
  const T x = call.tensor("x");
  const Shape amounts = call.extents("pad");
  call.word("mode", {"constant"});
  const double fill = call.real("value");
  if (!call.ops.failed() && (amounts.size() % 2 != 0 || amounts.size() / 2 > x.shape().size()))
    call.fail("pad", "must be pairs [last axis before, last axis after, the one before it ...]");
  if (call.ops.failed()) return {};
  ViewAttr view;
  view.fill = fill;
  Shape shape = x.shape();
  for (int d = 0; d < x.rank(); ++d) view.axes.push_back({Dim(0), {{d, 1}}, std::nullopt});
  for (std::size_t i = 0; i < amounts.size() / 2; ++i) {
    const std::size_t axis = shape.size() - 1 - i;
    view.axes[axis].offset = Dim(0) - amounts[2 * i];
    shape[axis] = shape[axis] + amounts[2 * i] + amounts[2 * i + 1];
    if (const Status status = require_at_least(call.ops.builder(), shape[axis], 0, "the padded extent"); !status)
      call.fail("pad", "is too negative: " + status.error().message);
  }
  return Value::of(call.ops.view(x, std::move(view), std::move(shape)));
}

Value narrow_call(Call& call) {
  const T x = call.tensor("x");
  return Value::of(narrow(x, call.axis("axis", x.rank()), call.extent("start"), call.extent("length")));
}

Value select_call(Call& call) {
  const T x = call.tensor("x");
  std::vector<IndexItem> items(static_cast<std::size_t>(call.axis("axis", x.rank())) + 1);
  items.back().kind = IndexItem::Kind::position;
  items.back().start = call.extent("index");
  return Value::of(index(x, items));
}

Value unfold(Call& call) {
  const T x = call.tensor("x");
  const int axis = call.axis("axis", x.rank());
  const std::int64_t size = call.integer("size"), step = call.integer("step");
  if (!call.ops.failed() && (size < 1 || step < 1 || step > INT32_MAX)) call.fail("'size' and 'step' must be positive");
  if (call.ops.failed()) return {};
  const Dim room = x.extent(axis) - Dim(size);
  if (const Status status = require_at_least(call.ops.builder(), room, 0, "the axis minus the window"); !status)
    call.fail("size", "is too large: " + status.error().message);
  ViewAttr view;
  for (int d = 0; d < x.rank(); ++d) view.axes.push_back({Dim(0), {{d, d == axis ? step : 1}}, std::nullopt});
  view.axes[static_cast<std::size_t>(axis)].terms.push_back({x.rank(), 1});
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = floor_div(room, step) + Dim(1);
  shape.emplace_back(size);
  return Value::of(call.ops.view(x, std::move(view), std::move(shape)));
}

}  // namespace

std::span<const FunctionRow> shape_functions() {
  static constexpr FunctionRow kRows[] = {
      {"cat(x, axis=0)", "Joins a list of tensors along an axis.", cat, kPrimitive, "concat concatenate"},
      {"stack(x, axis=0)", "Joins a list of tensors along a new axis.", stack, kPrimitive},
      {"chunk(x, chunks, axis=0)", "A list of equal parts: chunk(x, 2, axis=-1)[0].", chunk, kPrimitive},
      {"split(x, size, axis=0)", "A list of parts of one size, or of the sizes in a list.", split, kPrimitive},
      {"reshape(x, *shape)", "The same elements in another shape; one extent may be -1.", reshape, kPrimitive, "view"},
      {"flatten(x, start=0, end=-1)", "Axes start to end as one.", flatten, kPrimitive},
      {"unflatten(x, axis, shape)", "One axis as several.", unflatten, kPrimitive},
      {"squeeze(x, axis=none)", "Without the axes of extent 1.", squeeze_axes, kPrimitive},
      {"unsqueeze(x, axis)", "With a new axis of extent 1.", unsqueeze_axis, kPrimitive, "expand_dims"},
      {"transpose(x, dim0=none, dim1=none)", "Two axes swapped; without axes all reversed; a list permutes.", transpose,
       kPrimitive},
      {"swapaxes(x, dim0, dim1)", "Two axes swapped.", transpose, kPrimitive, "swapdims"},
      {"permute(x, *dims)", "Axes in another order.", permute, kPrimitive},
      {"movedim(x, source, destination)", "One axis moved.", movedim, kPrimitive, "moveaxis"},
      {"expand(x, *shape)", "Axes of extent 1 stretched, new ones in front; -1 keeps an extent.", expand, kPrimitive,
       "broadcast_to"},
      {"repeat(x, *repeats)", "The tensor repeated along each axis.", repeat, kPrimitive, "tile"},
      {"repeat_interleave(x, repeats, axis)", "Each element repeated along an axis.", repeat_interleave, kPrimitive},
      {"flip(x, axis=none)", "Axes reversed.", flip, kPrimitive},
      {"roll(x, shifts, axis=none)", "Elements moved along axes, round the end; without an axis, of the flat x.", roll,
       kPrimitive},
      {"pad(x, pad, value=0, mode=\"constant\")",
       "Surrounded by a value; pairs from the last axis: [left, right, top, bottom]. Negative amounts crop.", pad,
       kPrimitive},
      {"narrow(x, axis, start, length)", "A slice of one axis.", narrow_call, kPrimitive},
      {"select(x, axis, index)", "One position of an axis, which disappears.", select_call, kPrimitive},
      {"unfold(x, axis, size, step)", "Sliding windows of one axis, as a new last axis.", unfold, kPrimitive},
  };
  return kRows;
}

}  // namespace kerf::ir
