#include "ir/builder.hpp"

#include <algorithm>
#include <cmath>

#include "ir/builder_check.hpp"
#include "ir/dim_node.hpp"

namespace kerf::ir {
namespace {

/// The dtype that the (value) arguments of `op` are brought to.
DType argument_dtype(MapOp op, DType promoted) {
  switch (facts_of(op).arguments) {
    case Arguments::bools: return DType::boolean;
    case Arguments::reals: return is_float(promoted) ? promoted : DType::f32;
    case Arguments::numbers:
    case Arguments::rounded: return promoted == DType::boolean ? DType::i64 : promoted;
    case Arguments::compared:
    case Arguments::selected:
    case Arguments::any: return promoted;
  }
  return promoted;
}

}  // namespace

Builder::Builder(std::vector<Bindings> shape_sets) : shape_sets_(std::move(shape_sets)) {}

bool Builder::same_extent(const Dim& a, const Dim& b) const {
  if (a == b) return true;
  if (shape_sets_.empty() || (a.is_constant() && b.is_constant())) return false;
  const bool same = std::all_of(shape_sets_.begin(), shape_sets_.end(), [&](const Bindings& bindings) {
    const auto left = a.evaluate(bindings), right = b.evaluate(bindings);
    return left && right && *left == *right;
  });
  if (same) rely_on({Condition::Relation::equal, a, b});
  return same;
}

bool Builder::at_most(const Dim& a, const Dim& b) const {
  const Dim slack = b - a;
  if (slack.is_constant()) return slack.constant() >= 0;
  if (Dim::Node::of(slack).broken == nullptr && detail::is_non_negative(slack)) return true;
  const bool holds =
      !shape_sets_.empty() && std::all_of(shape_sets_.begin(), shape_sets_.end(), [&](const Bindings& bindings) {
        const auto value = slack.evaluate(bindings);
        return value && *value >= 0;
      });
  if (holds) rely_on({Condition::Relation::at_most, a, b});
  return holds;
}

void Builder::rely_on(Condition condition) const {
  const std::string text = to_string(condition);
  const bool known =
      std::any_of(conditions_.begin(), conditions_.end(), [&](const Condition& c) { return to_string(c) == text; });
  if (!known) conditions_.push_back(std::move(condition));
}

NodeId Builder::add(Node node) {
  node.origin = origin_;
  const auto [place, inserted] = known_.try_emplace(structural_key(node), static_cast<NodeId>(graph_.nodes.size()));
  if (inserted) graph_.nodes.push_back(std::move(node));
  return place->second;
}

NodeId Builder::input(const std::string& name, DType dtype, Shape shape) {
  const NodeId id = add(Node{InputAttr{name}, dtype, std::move(shape), {}, {}});
  graph_.inputs.push_back({name, id});
  return id;
}

NodeId Builder::constant(double value, DType dtype) {
  if (dtype == DType::boolean) value = value != 0 ? 1 : 0;
  if (is_integer(dtype)) value = std::trunc(value) + 0.0;
  return add(Node{ConstantAttr{value}, dtype, {}, {}, {}});
}

NodeId Builder::iota(int axis, Shape shape, DType dtype) {
  return add(Node{IotaAttr{axis}, dtype, std::move(shape), {}, {}});
}

NodeId Builder::cast(NodeId x, DType dtype) {
  if (node(x).dtype == dtype) return x;
  if (is<ConstantAttr>(node(x)) && is_float(dtype)) return constant(attr<ConstantAttr>(node(x)).value, dtype);
  return add(Node{MapAttr{MapOp::cast}, dtype, node(x).shape, {x}, {}});
}

Result<NodeId> Builder::map(MapOp op, std::vector<NodeId> args) {
  KERF_CHECK(static_cast<int>(args.size()) == map_op_arity(op) && op != MapOp::cast, "wrong arguments for a map");
  const std::size_t first = op == MapOp::select ? 1 : 0;
  DType promoted = node(args[first]).dtype;
  Shape shape = node(args[0]).shape;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (i > first) promoted = promote(promoted, node(args[i]).dtype);
    KERF_TRY(shape, broadcast_shapes(*this, shape, node(args[i]).shape, map_op_name(op)));
  }
  if (facts_of(op).arguments == Arguments::rounded && !is_float(promoted)) return args[0];
  if (promoted == DType::boolean && op == MapOp::minimum) op = MapOp::logical_and;
  if (promoted == DType::boolean && op == MapOp::maximum) op = MapOp::logical_or;
  const DType dtype = argument_dtype(op, promoted);
  for (std::size_t i = 0; i < args.size(); ++i) args[i] = cast(args[i], i < first ? DType::boolean : dtype);
  return add(
      Node{MapAttr{op}, facts_of(op).gives_bool ? DType::boolean : dtype, std::move(shape), std::move(args), {}});
}

NodeId Builder::view(NodeId x, ViewAttr view, Shape shape) {
  return add(Node{std::move(view), node(x).dtype, std::move(shape), {x}, {}});
}

void Builder::output(std::string name, NodeId node) { graph_.outputs.push_back({std::move(name), node}); }

Graph Builder::take() {
  known_.clear();
  graph_.conditions = std::move(conditions_);
  conditions_.clear();
  return std::exchange(graph_, {});
}

Result<Shape> broadcast_shapes(const Builder& builder, const Shape& a, const Shape& b, std::string_view what) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Dim& extent = shape[lead + i];
    if (extent.is_one())
      extent = shorter[i];
    else if (!shorter[i].is_one() && !builder.same_extent(extent, shorter[i]))
      return fail(Errc::invalid_input, std::string(what) + ": shapes " + to_string(a) + " and " + to_string(b) +
                                           " do not broadcast (" + a[a.size() - shorter.size() + i].to_string() +
                                           " against " + b[b.size() - shorter.size() + i].to_string() + ")");
  }
  return shape;
}

Result<int> normal_axis(int axis, std::size_t rank, std::string_view what) {
  const int count = static_cast<int>(rank);
  if (axis >= -count && axis < count) return axis < 0 ? axis + count : axis;
  return fail(Errc::invalid_input, std::string(what) + ": axis " + std::to_string(axis) +
                                       " is outside a tensor of rank " + std::to_string(rank));
}

Result<std::vector<int>> normal_axes(std::vector<int> axes, std::size_t rank, std::string_view what) {
  for (int& axis : axes) {
    KERF_TRY(axis, normal_axis(axis, rank, what));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    return fail(Errc::invalid_input, std::string(what) + ": an axis is named twice");
  return axes;
}

Status require_at_least(const Builder& builder, const Dim& extent, std::int64_t least, std::string_view what) {
  const auto refuse = [&](std::int64_t value) {
    return fail(Errc::invalid_input, std::string(what) + " is " + extent.to_string() +
                                         (extent.is_constant() ? "" : " = " + std::to_string(value)) +
                                         ", but must be at least " + std::to_string(least));
  };
  if (extent.is_constant()) {
    if (extent.constant() < least) return refuse(extent.constant());
    return {};
  }
  for (const auto& bindings : builder.shape_sets()) {
    KERF_TRY(const std::int64_t value, extent.evaluate(bindings));
    if (value < least) return refuse(value);
  }
  if (!builder.shape_sets().empty()) (void)builder.at_most(least, extent);  // notes it where the text does not show it
  return {};
}

}  // namespace kerf::ir
