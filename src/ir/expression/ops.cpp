#include "ir/expression/ops.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/builder_check.hpp"
#include "ir/dim_node.hpp"
#include "ir/graph_fold.hpp"

namespace kerf::ir {

const Shape& T::shape() const {
  static const Shape kNone;
  return id < 0 ? kNone : ops->builder().node(id).shape;
}
DType T::dtype() const { return id < 0 ? DType::f32 : ops->builder().node(id).dtype; }
Dim T::extent(int axis) const {
  if (id < 0) return 1;
  const int normal = ops->axis(axis, rank());
  return ops->failed() ? Dim(1) : shape()[static_cast<std::size_t>(normal)];
}

void Ops::fail(std::string message) {
  if (!error_) error_ = std::move(message);
}

bool Ops::usable(const std::vector<T>& args) const {
  return !failed() && std::all_of(args.begin(), args.end(), [](const T& arg) { return arg.id >= 0; });
}

T Ops::take(Result<NodeId> node) {
  if (node) return T{this, *node};
  fail(node.error().message);
  return invalid();
}

T Ops::constant(double value, DType dtype) { return T{this, builder_.constant(value, dtype)}; }
T Ops::iota(int axis, Shape shape, DType dtype) { return T{this, builder_.iota(axis, std::move(shape), dtype)}; }

namespace {

/// Entry `extent` of [0, 1, ..., extent]; the extent must not be negative.
T read_extent(Ops& ops, const Dim& extent) {
  const T indices = ops.iota(0, {extent + Dim(1)}, DType::i64);
  ViewAttr last;
  last.axes.push_back({extent, {}, std::nullopt});
  return ops.view(indices, std::move(last), {});
}

/// An atom as a scalar; one that may be negative as max(a, 0) - max(-a, 0).
T atom_value(Ops& ops, const Dim& atom) {
  if (detail::is_non_negative(atom) || ops.provably_at_most(0, atom)) return read_extent(ops, atom);
  return read_extent(ops, max(atom, Dim(0))) - read_extent(ops, max(Dim(0) - atom, Dim(0)));
}

Dim dim_of(const std::shared_ptr<const detail::Atom>& atom) {
  auto node = std::make_shared<Dim::Node>();
  node->terms.push_back({1, {atom}, atom->in_product()});
  return Dim::Node::finish(std::move(node));
}

}  // namespace

T Ops::value_of(const Dim& extent, DType dtype) {
  if (failed()) return invalid();
  if (extent.is_constant()) return constant(static_cast<double>(extent.constant()), dtype);
  const auto& node = Dim::Node::of(extent);
  if (node.broken != nullptr) {
    fail(node.broken);
    return invalid();
  }
  // Term by term, so that the index vectors stay as short as single symbols.
  std::optional<T> sum;
  for (const auto& term : node.terms) {
    std::optional<T> product;
    for (const auto& factor : term.factors) {
      const T value = atom_value(*this, dim_of(factor));
      product = product ? *product * value : value;
    }
    if (term.coefficient != 1) product = *product * constant(static_cast<double>(term.coefficient), DType::i64);
    sum = sum ? *sum + *product : *product;
  }
  if (node.constant != 0) sum = *sum + constant(static_cast<double>(node.constant), DType::i64);
  return cast(*sum, dtype);
}

T Ops::map(MapOp op, const std::vector<T>& args) {
  if (!usable(args)) return invalid();
  std::vector<NodeId> ids;
  std::vector<double> values;
  for (const T& arg : args) {
    ids.push_back(arg.id);
    const Node& node = builder_.node(arg.id);
    if (is<ConstantAttr>(node)) values.push_back(attr<ConstantAttr>(node).value);
  }
  const T result = take(builder_.map(op, std::move(ids)));
  if (result.id < 0 || values.size() != args.size()) return result;
  const Node& node = builder_.node(result.id);
  if (!is<MapAttr>(node)) return result;
  const auto folded = fold_map(op, values, builder_.node(node.args.back()).dtype, node.dtype);
  return folded ? constant(*folded, node.dtype) : result;
}

T Ops::cast(T x, DType dtype) {
  if (!usable({x})) return invalid();
  const Node& node = builder_.node(x.id);
  if (is<ConstantAttr>(node))
    if (const auto folded = fold_map(MapOp::cast, {attr<ConstantAttr>(node).value}, node.dtype, dtype))
      return constant(*folded, dtype);
  return T{this, builder_.cast(x.id, dtype)};
}

T Ops::reshape(T x, Shape shape) { return usable({x}) ? take(builder_.reshape(x.id, std::move(shape))) : invalid(); }
T Ops::transpose(T x, const std::vector<int>& order) {
  return usable({x}) ? take(builder_.transpose(x.id, order)) : invalid();
}
T Ops::broadcast_to(T x, Shape shape) {
  return usable({x}) ? take(builder_.broadcast_to(x.id, std::move(shape))) : invalid();
}
T Ops::view(T x, ViewAttr view, Shape shape) {
  return usable({x}) ? T{this, builder_.view(x.id, std::move(view), std::move(shape))} : invalid();
}
T Ops::concat(const std::vector<T>& args, int axis) {
  if (!usable(args)) return invalid();
  std::vector<NodeId> ids;
  for (const T& arg : args) ids.push_back(arg.id);
  return take(builder_.concat(std::move(ids), axis));
}
T Ops::gather(T x, T index, int axis) {
  return usable({x, index}) ? take(builder_.gather(x.id, index.id, axis)) : invalid();
}
T Ops::top(T x, int axis, const Dim& count, bool largest) {
  return usable({x}) ? take(builder_.top(x.id, axis, count, largest)) : invalid();
}
T Ops::reduce(ReduceOp op, T x, const std::vector<int>& axes, bool keepdims) {
  return usable({x}) ? take(builder_.reduce(op, x.id, axes, keepdims)) : invalid();
}
T Ops::scan(const ScanAttr& attr, T x) { return usable({x}) ? take(builder_.scan(attr, x.id)) : invalid(); }
T Ops::contract(T lhs, T rhs, ContractAttr attr) {
  return usable({lhs, rhs}) ? take(builder_.contract(lhs.id, rhs.id, std::move(attr))) : invalid();
}
T Ops::matmul(T a, T b) { return usable({a, b}) ? take(builder_.matmul(a.id, b.id)) : invalid(); }
T Ops::conv(T x, T w, ConvAttr attr) {
  return usable({x, w}) ? take(builder_.conv(x.id, w.id, std::move(attr))) : invalid();
}
T Ops::pool(T x, PoolAttr attr, bool ceil_mode) {
  return usable({x}) ? take(builder_.pool(x.id, std::move(attr), ceil_mode)) : invalid();
}
T Ops::adaptive_pool(PoolOp op, T x, const Shape& output) {
  return usable({x}) ? take(builder_.adaptive_pool(op, x.id, output)) : invalid();
}

int Ops::axis(int axis, int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  fail("axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank));
  return 0;
}

std::vector<int> Ops::axes(std::vector<int> axes, int rank) {
  auto normal = normal_axes(std::move(axes), static_cast<std::size_t>(rank), "axes");
  if (normal) return *normal;
  fail(normal.error().message);
  return {};
}

bool Ops::provably_at_most(const Dim& a, const Dim& b) const { return builder_.at_most(a, b); }

T number_like(T x, double value) {
  if (x.id < 0) return x;
  const DType dtype = x.dtype();
  const bool fits = is_float(dtype) || (is_integer(dtype) && value == std::trunc(value) && std::fabs(value) < 0x1.0p31);
  return x.ops->constant(value, fits ? dtype : DType::f32);
}

T apply(MapOp op, T x) { return x.ops->map(op, {x}); }
T apply(MapOp op, T a, T b) { return a.ops->map(op, {a, b}); }
T apply(MapOp op, T a, double b) { return apply(op, a, number_like(a, b)); }

T operator+(T a, T b) { return apply(MapOp::add, a, b); }
T operator-(T a, T b) { return apply(MapOp::sub, a, b); }
T operator*(T a, T b) { return apply(MapOp::mul, a, b); }
T operator/(T a, T b) { return apply(MapOp::div, a, b); }
T operator+(T a, double b) { return apply(MapOp::add, a, b); }
T operator-(T a, double b) { return apply(MapOp::sub, a, b); }
T operator*(T a, double b) { return apply(MapOp::mul, a, b); }
T operator/(T a, double b) { return apply(MapOp::div, a, b); }
T operator+(double a, T b) { return number_like(b, a) + b; }
T operator-(double a, T b) { return number_like(b, a) - b; }
T operator*(double a, T b) { return number_like(b, a) * b; }
T operator/(double a, T b) { return number_like(b, a) / b; }
T operator-(T a) { return apply(MapOp::neg, a); }

T select(T condition, T a, T b) { return a.ops->map(MapOp::select, {condition, a, b}); }
T minimum(T a, double b) { return apply(MapOp::minimum, a, b); }
T maximum(T a, double b) { return apply(MapOp::maximum, a, b); }
T clamp(T x, double low, double high) { return minimum(maximum(x, low), high); }

T sum_kept(T x, const std::vector<int>& axes) { return x.ops->reduce(ReduceOp::sum, x, axes, true); }
T max_kept(T x, const std::vector<int>& axes) { return x.ops->reduce(ReduceOp::max, x, axes, true); }

Dim count_along(T x, const std::vector<int>& axes) {
  if (axes.empty()) return element_count(x.shape());
  Dim count = 1;
  for (const int axis : x.ops->axes(axes, x.rank())) count = count * x.extent(axis);
  return count;
}

T divide_by(T x, const Dim& count) {
  x = x.ops->to_float(x);
  return x / x.ops->value_of(count, x.dtype());
}

T mean(T x, const std::vector<int>& axes, bool keepdims) {
  x = x.ops->to_float(x);
  const Dim count = count_along(x, axes);
  return divide_by(x.ops->reduce(ReduceOp::sum, x, axes, keepdims), count);
}

T unsqueeze(T x, int axis) {
  const int at = x.ops->axis(axis, x.rank() + 1);
  Shape shape = x.shape();
  if (x.ops->failed()) return x;
  shape.insert(shape.begin() + at, Dim(1));
  return x.ops->reshape(x, std::move(shape));
}

T squeeze(T x, int axis) {
  const int at = x.ops->axis(axis, x.rank());
  Shape shape = x.shape();
  if (x.ops->failed()) return x;
  shape.erase(shape.begin() + at);
  return x.ops->reshape(x, std::move(shape));
}

}  // namespace kerf::ir
