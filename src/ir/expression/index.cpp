#include "ir/expression/index.hpp"

#include <algorithm>

#include "ir/builder_check.hpp"
#include "ir/dim_node.hpp"

namespace kerf::ir {
namespace {

/// A bound counted from the front; `-k` counts from the end also when k is a symbol.
Dim from_front(const Ops& ops, const Dim& bound, const Dim& extent) {
  const bool negative =
      ops.provably_at_most(bound, Dim(-1)) || (!bound.is_constant() && detail::is_non_negative(Dim(0) - bound));
  return negative ? extent + bound : bound;
}

Dim clamped(const Ops& ops, Dim bound, const Dim& low, const Dim& high) {
  if (!ops.provably_at_most(low, bound)) bound = max(bound, low);
  if (!ops.provably_at_most(bound, high)) bound = min(bound, high);
  return bound;
}

struct Range {
  Dim start, length;
};

Range resolve(const Ops& ops, const IndexItem& item, const Dim& extent) {
  const bool forward = item.step > 0;
  const Dim low = forward ? 0 : -1, high = forward ? extent : extent - Dim(1);
  const Dim first = forward ? Dim(0) : extent - Dim(1), last = forward ? extent : Dim(-1);
  const Dim start = item.start ? clamped(ops, from_front(ops, *item.start, extent), low, high) : first;
  const Dim stop = item.stop ? clamped(ops, from_front(ops, *item.stop, extent), low, high) : last;
  const Dim span = forward ? stop - start : start - stop;
  const Dim length = ceil_div(span, Dim(forward ? item.step : -item.step));
  return {start, ops.provably_at_most(0, length) ? length : max(length, Dim(0))};
}

/// False when the position is known to be outside, be it under one shape set only.
bool may_be_inside(const Builder& builder, const Dim& position, const Dim& extent) {
  return require_at_least(builder, position, 0, "index") && require_at_least(builder, extent - position, 1, "index");
}

}  // namespace

T index(T x, const std::vector<IndexItem>& items) {
  Ops& ops = *x.ops;
  if (ops.failed()) return T{&ops, -1};
  using Kind = IndexItem::Kind;
  const auto consumes = [](const IndexItem& item) { return item.kind == Kind::slice || item.kind == Kind::position; };
  const auto used = std::count_if(items.begin(), items.end(), consumes);
  if (std::count_if(items.begin(), items.end(), [](const auto& item) { return item.kind == Kind::ellipsis; }) > 1) {
    ops.fail("an index may contain '...' once");
    return T{&ops, -1};
  }
  if (used > x.rank()) {
    ops.fail("too many indices: " + std::to_string(used) + " for shape " + to_string(x.shape()));
    return T{&ops, -1};
  }
  std::vector<IndexItem> full;
  bool open = true;
  const auto fill_rest = [&] { full.resize(full.size() + static_cast<std::size_t>(x.rank() - used)); };
  for (const auto& item : items) {
    if (item.kind == Kind::ellipsis) {
      fill_rest();
      open = false;
    } else {
      full.push_back(item);
    }
  }
  if (open) fill_rest();
  ViewAttr view;
  Shape shape;
  for (const auto& item : full) {
    const auto axis = static_cast<int>(shape.size());
    if (item.kind == Kind::new_axis) {
      shape.emplace_back(1);
      continue;
    }
    const Dim extent = x.shape()[view.axes.size()];
    if (item.kind == Kind::position) {
      const Dim position = from_front(ops, *item.start, extent);
      if (!may_be_inside(ops.builder(), position, extent)) {
        ops.fail("index " + item.start->to_string() + " is outside an axis of extent " + extent.to_string());
        return T{&ops, -1};
      }
      view.axes.push_back({position, {}, std::nullopt});
      continue;
    }
    const Range range = resolve(ops, item, extent);
    view.axes.push_back({range.start, {{axis, item.step}}, std::nullopt});
    shape.push_back(range.length);
  }
  return ops.view(x, std::move(view), std::move(shape));
}

T narrow(T x, int axis, const Dim& start, const Dim& length) {
  Ops& ops = *x.ops;
  if (ops.failed()) return T{&ops, -1};
  const Dim first = from_front(ops, start, x.extent(axis));
  const Status inside =
      require_at_least(ops.builder(), x.extent(axis) - first - length, 0,
                       "the room behind the slice [" + first.to_string() + ", " + (first + length).to_string() +
                           ") of an axis of extent " + x.extent(axis).to_string());
  const Status begins = require_at_least(ops.builder(), first, 0, "the start of the slice");
  const Status has_length = require_at_least(ops.builder(), length, 0, "the length of the slice");
  for (const Status* status : {&inside, &begins, &has_length})
    if (!*status) ops.fail(status->error().message);
  if (ops.failed()) return T{&ops, -1};
  std::vector<IndexItem> items(static_cast<std::size_t>(axis) + 1);
  items.back().start = first;
  items.back().stop = first + length;
  return index(x, items);
}

}  // namespace kerf::ir
