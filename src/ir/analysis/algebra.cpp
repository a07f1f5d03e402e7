#include "ir/analysis/algebra.hpp"

#include <algorithm>
#include <set>

#include "ir/analysis/algebra_concat.hpp"
#include "ir/analysis/algebra_products.hpp"
#include "ir/analysis/algebra_rewriter.hpp"

namespace kerf::ir {
namespace algebra {
namespace {

bool same_shape(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

Shape without_axes(const Shape& shape, const Axes& axes) {
  Shape rest;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!contains(axes, static_cast<int>(d))) rest.push_back(shape[d]);
  return rest;
}

bool merges(ReduceOp op) { return op != ReduceOp::argmax && op != ReduceOp::argmin; }

/// `outer` after `inner` as one view, where no index has to be checked or wrapped in between.
std::optional<ViewAttr> composed(const ViewAttr& outer, const ViewAttr& inner, bool inner_permutes) {
  ViewAttr result;
  if (inner_permutes) {  // whatever the outer view does to an axis it does to the one behind it
    result.fill = outer.fill;
    for (const auto& axis : inner.axes)
      result.axes.push_back(outer.axes[static_cast<std::size_t>(axis.terms.front().axis)]);
    return result;
  }
  const auto plain = [](const ViewAttr& view) {
    return !view.fill &&
           std::none_of(view.axes.begin(), view.axes.end(), [](const auto& axis) { return axis.modulo.has_value(); });
  };
  if (!plain(outer) || !plain(inner)) return std::nullopt;
  for (const auto& axis : inner.axes) {
    ViewAttr::AxisMap map{axis.offset, {}, {}};
    std::map<int, std::int64_t> strides;
    for (const auto& term : axis.terms) {
      const auto& behind = outer.axes[static_cast<std::size_t>(term.axis)];
      map.offset = map.offset + Dim(term.stride) * behind.offset;
      for (const auto& far : behind.terms) strides[far.axis] += term.stride * far.stride;
    }
    for (const auto& [along, stride] : strides)
      if (stride != 0) map.terms.push_back({along, stride});
    result.axes.push_back(std::move(map));
  }
  return result;
}

}  // namespace

std::optional<std::vector<int>> simple_view(const Node& view, const Node& source) {
  if (!is<ViewAttr>(view) || attr<ViewAttr>(view).fill) return std::nullopt;
  std::vector<int> axes;
  std::set<int> used;
  const auto& maps = attr<ViewAttr>(view).axes;
  for (std::size_t d = 0; d < maps.size(); ++d) {
    if (maps[d].modulo || !(maps[d].offset == Dim(0)) || maps[d].terms.size() > 1) return std::nullopt;
    if (maps[d].terms.empty()) {
      if (!source.shape[d].is_one()) return std::nullopt;
      axes.push_back(-1);
      continue;
    }
    const auto& term = maps[d].terms.front();
    if (term.stride != 1 || !(view.shape[static_cast<std::size_t>(term.axis)] == source.shape[d]) ||
        !used.insert(term.axis).second)
      return std::nullopt;
    axes.push_back(term.axis);
  }
  return axes;
}

namespace {

/// True when every axis of the view comes from one of its source.
bool permutes(const Node& view, const std::vector<int>& axes) {
  return view.shape.size() == axes.size() && !contains(axes, -1);
}

}  // namespace

Rewriter::Rewriter(const Graph& graph, Rules rules) : graph_(graph), rules_(rules), uses_(graph.nodes.size(), 0) {
  for (const Node& node : graph.nodes)
    for (const NodeId arg : node.args) ++uses_[static_cast<std::size_t>(arg)];
  for (const auto& output : graph.outputs) ++uses_[static_cast<std::size_t>(output.node)];
}

Graph Rewriter::rewrite() {
  for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
    origin_ = old(id).origin;
    done_.push_back(emit(id));
  }
  for (const auto& input : graph_.inputs) result_.inputs.push_back({input.name, done(input.node)});
  for (const auto& output : graph_.outputs) result_.outputs.push_back({output.name, done(output.node)});
  return simplify(result_);
}

NodeId Rewriter::add(Node node) {
  node.origin = origin_;
  const auto [place, inserted] = known_.try_emplace(structural_key(node), static_cast<NodeId>(result_.nodes.size()));
  if (inserted) result_.nodes.push_back(std::move(node));
  return place->second;
}

NodeId Rewriter::map(MapOp op, const std::vector<NodeId>& args) {
  Shape shape;
  for (const NodeId arg : args) {  // as broadcasting goes; the extents fit
    const Shape& from = made(arg).shape;
    if (from.size() > shape.size()) shape.insert(shape.begin(), from.size() - shape.size(), Dim(1));
    const std::size_t lead = shape.size() - from.size();
    for (std::size_t d = 0; d < from.size(); ++d)
      if (shape[lead + d].is_one()) shape[lead + d] = from[d];
  }
  return add(Node{MapAttr{op}, made(args[0]).dtype, std::move(shape), args, {}});
}

NodeId Rewriter::reshape(NodeId x, const Shape& shape) {
  if (is<ReshapeAttr>(made(x))) x = made(x).args[0];
  if (same_shape(made(x).shape, shape)) return x;
  return add(Node{ReshapeAttr{}, made(x).dtype, shape, {x}, {}});
}

NodeId Rewriter::reduce(ReduceOp op, NodeId x, const Axes& axes) {
  if (axes.empty()) return x;
  const Node& from = made(x);
  const bool arg = !merges(op);
  return add(Node{ReduceAttr{op, axes, false}, arg ? DType::i64 : from.dtype, without_axes(from.shape, axes), {x}, {}});
}

NodeId Rewriter::count(const Dim& extent, DType dtype) {
  if (extent.is_constant()) return add(Node{ConstantAttr{static_cast<double>(extent.constant())}, dtype, {}, {}, {}});
  const NodeId steps = add(Node{IotaAttr{0}, DType::i64, {extent + Dim(1)}, {}, {}});
  const NodeId last = add(Node{ViewAttr{{{extent, {}, {}}}, {}}, DType::i64, {}, {steps}, {}});
  return add(Node{MapAttr{MapOp::cast}, dtype, {}, {last}, {}});
}

NodeId Rewriter::transpose(NodeId x, const std::vector<int>& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  ViewAttr attributes;
  attributes.axes.resize(order.size());
  Shape shape;
  for (std::size_t out = 0; out < order.size(); ++out) {
    const auto in = static_cast<std::size_t>(order[out]);
    attributes.axes[in].terms = {{static_cast<int>(out), 1}};
    shape.push_back(made(x).shape[in]);
  }
  return view(x, std::move(attributes), std::move(shape));
}

NodeId Rewriter::view(NodeId x, ViewAttr attributes, Shape shape) {
  Node node{std::move(attributes), made(x).dtype, std::move(shape), {x}, {}};
  while (is<ViewAttr>(made(node.args[0]))) {
    const Node& inner = made(node.args[0]);
    const Node& source = made(inner.args[0]);
    const auto axes = simple_view(inner, source);
    auto both = composed(attr<ViewAttr>(node), attr<ViewAttr>(inner), axes && permutes(inner, *axes));
    if (!both) break;
    node.attr = *std::move(both);
    node.args = {inner.args[0]};
  }
  const Node& source = made(node.args[0]);
  const auto axes = simple_view(node, source);
  if (axes && permutes(node, *axes) && std::is_sorted(axes->begin(), axes->end())) return node.args[0];
  return add(std::move(node));
}

/// Takes permuting and stretching views off an operand by naming its axes differently.
void Rewriter::absorb(NodeId& operand, std::vector<int>& labels, const std::vector<int>& other) {
  while (is<ViewAttr>(made(operand))) {
    const NodeId source = made(operand).args[0];
    const auto axes = simple_view(made(operand), made(source));
    if (!axes) return;
    for (std::size_t d = 0; d < labels.size(); ++d)  // a stretched axis needs its extent from the other operand
      if (!contains(*axes, static_cast<int>(d)) && !contains(other, labels[d])) return;
    Axes dropped;
    std::vector<int> renamed;
    for (std::size_t d = 0; d < axes->size(); ++d) {
      if ((*axes)[d] < 0)
        dropped.push_back(static_cast<int>(d));
      else
        renamed.push_back(labels[static_cast<std::size_t>((*axes)[d])]);
    }
    operand = reshape(source, without_axes(made(source).shape, dropped));
    labels = std::move(renamed);
  }
}

NodeId Rewriter::contract(NodeId lhs, NodeId rhs, const ContractAttr& attributes, DType dtype, Shape shape) {
  ContractAttr labels = attributes;
  absorb(lhs, labels.lhs, labels.rhs);
  absorb(rhs, labels.rhs, labels.lhs);
  return add(Node{std::move(labels), dtype, std::move(shape), {lhs, rhs}, {}});
}

NodeId Rewriter::emit(NodeId id) {
  const Node& node = old(id);
  if (is<ViewAttr>(node)) return emit_view(id);
  if (is<ReshapeAttr>(node)) return reshape(done(node.args[0]), node.shape);
  if (is<ReduceAttr>(node)) return emit_reduce(id);
  if (is<ContractAttr>(node)) return emit_contract(id);
  if (is<AdaptivePoolAttr>(node)) {
    const auto& pool = attr<AdaptivePoolAttr>(node);
    const std::size_t lead = node.shape.size() - static_cast<std::size_t>(pool.rank);
    Axes axes;
    for (std::size_t d = lead; d < node.shape.size(); ++d) axes.push_back(static_cast<int>(d));
    const bool whole =
        std::all_of(axes.begin(), axes.end(), [&](int d) { return node.shape[static_cast<std::size_t>(d)].is_one(); });
    const ReduceOp op = pool.op == PoolOp::max ? ReduceOp::max : ReduceOp::sum;
    if (whole) return reshape(reduced(op, node.args[0], axes), node.shape);
  }
  if (is<PoolAttr>(node))
    if (const auto once = chained_pool(node)) return *once;
  if (is<PoolAttr>(node) && rules_ >= Rules::pooling) {
    if (const auto pooled = pushed_pool(node.args[0], attr<PoolAttr>(node), node.shape)) return *pooled;
  }
  Node copy = node;
  for (NodeId& arg : copy.args) arg = done(arg);
  return add(std::move(copy));
}

NodeId Rewriter::emit_view(NodeId id) {
  const Node& node = old(id);
  const NodeId x = done(node.args[0]);
  const auto axes = simple_view(node, made(x));
  if (axes && permutes(node, *axes) && is<ContractAttr>(made(x)) && only_use(node.args[0])) {
    Node contraction = made(x);
    auto& labels = std::get<ContractAttr>(contraction.attr);
    std::vector<int> out(labels.out.size());
    for (std::size_t d = 0; d < axes->size(); ++d) out[static_cast<std::size_t>((*axes)[d])] = labels.out[d];
    labels.out = std::move(out);
    contraction.shape = node.shape;
    return add(std::move(contraction));
  }
  return view(x, attr<ViewAttr>(node), node.shape);
}

NodeId Rewriter::reduced(ReduceOp op, NodeId id, const Axes& axes) {
  if (rules_ >= Rules::linear && is_float(old(id).dtype)) {
    const auto pushed = op == ReduceOp::sum ? pushed_sum(id, axes) : pushed_extreme(op, id, axes);
    if (pushed) return *pushed;
  }
  return reduced_as_is(op, id, axes);
}

NodeId Rewriter::reduced_as_is(ReduceOp op, NodeId id, const Axes& axes) {
  if (axes.empty()) return done(id);
  NodeId x = done(id);
  Axes along = axes;
  std::vector<int> order;  // of the result: for each of its axes the axis of x it comes from
  for (int d = 0; d < static_cast<int>(made(x).shape.size()); ++d)
    if (!contains(along, d)) order.push_back(d);
  while (is<ViewAttr>(made(x))) {
    const NodeId source = made(x).args[0];
    const auto from = simple_view(made(x), made(source));
    if (!from || !permutes(made(x), *from)) break;
    for (auto* list : {&along, &order})
      for (int& axis : *list) axis = static_cast<int>(std::find(from->begin(), from->end(), axis) - from->begin());
    std::sort(along.begin(), along.end());
    x = source;
  }
  if (is<ReduceAttr>(made(x)) && attr<ReduceAttr>(made(x)).op == op && merges(op) && only_use(id) && x == done(id) &&
      !attr<ReduceAttr>(made(x)).keepdims) {
    const Axes inner = attr<ReduceAttr>(made(x)).axes;
    const NodeId source = made(x).args[0];
    Axes all = inner;
    int kept = 0;
    for (int d = 0; d < static_cast<int>(made(source).shape.size()); ++d) {
      if (contains(inner, d)) continue;
      if (contains(along, kept++)) all.push_back(d);
    }
    std::sort(all.begin(), all.end());
    return reduce(op, source, all);
  }
  const NodeId result = reduce(op, x, along);
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int& axis : order) axis = static_cast<int>(std::find(sorted.begin(), sorted.end(), axis) - sorted.begin());
  return transpose(result, order);
}

NodeId Rewriter::emit_reduce(NodeId id) {
  const Node& node = old(id);
  const auto& attributes = attr<ReduceAttr>(node);
  const NodeId result = reduced(attributes.op, node.args[0], attributes.axes);
  if (!attributes.keepdims) return result;
  // One node with keepdims where nothing else happened.
  if (is<ReduceAttr>(made(result)) && made(result).args[0] == done(node.args[0]) &&
      attr<ReduceAttr>(made(result)).axes == attributes.axes && attr<ReduceAttr>(made(result)).op == attributes.op) {
    Node copy = node;
    copy.args = {done(node.args[0])};
    return add(std::move(copy));
  }
  return reshape(result, node.shape);
}

NodeId Rewriter::emit_contract(NodeId id) {
  const Node& node = old(id);
  if (rules_ < Rules::linear || !is_float(node.dtype))
    return contract(done(node.args[0]), done(node.args[1]), attr<ContractAttr>(node), node.dtype, node.shape);
  // A summed axis that only one operand has is summed before; scalar factors wait until the end.
  ContractAttr labels = attr<ContractAttr>(node);
  std::vector<std::pair<MapOp, NodeId>> factors;
  const auto operand = [&](NodeId arg, std::vector<int>& own, const std::vector<int>& other) {
    Axes lonely;
    std::vector<int> kept;
    for (std::size_t d = 0; d < own.size(); ++d) {
      const bool needed = contains(labels.out, own[d]) || contains(other, own[d]);
      if (needed)
        kept.push_back(own[d]);
      else
        lonely.push_back(static_cast<int>(d));
    }
    own = kept;
    if (!lonely.empty()) return sum(arg, lonely);
    const Scaled plain = unscaled(arg);
    factors.insert(factors.end(), plain.steps.begin(), plain.steps.end());
    return done(plain.node);
  };
  const std::vector<int> right = labels.rhs;
  const NodeId lhs = operand(node.args[0], labels.lhs, right);
  const std::vector<int> left = labels.lhs;
  const NodeId rhs = operand(node.args[1], labels.rhs, left);
  NodeId result = contract(lhs, rhs, labels, node.dtype, node.shape);
  for (const auto& [op, factor] : factors) result = op == MapOp::neg ? map(op, {result}) : map(op, {result, factor});
  return result;
}

}  // namespace algebra

std::vector<Graph> algebraic_forms(const Graph& graph, Values values, std::int64_t tiles, const Bindings& real) {
  std::vector<Graph> forms{simplify(graph)};
  std::set<std::string> seen{to_string(forms.front())};
  Graph current = forms.front();
  for (const auto rules : {algebra::Rules::layout, algebra::Rules::linear, algebra::Rules::pooling}) {
    if (values == Values::any && rules != algebra::Rules::layout) break;
    // What one pass moves may let the next one move more; graphs only shrink towards their inputs, so this ends.
    for (int pass = 0; pass < 8; ++pass) {
      Graph next = algebra::Rewriter(current, rules).rewrite();
      const bool same = to_string(next) == to_string(current);
      current = std::move(next);
      if (same) break;
    }
    if (seen.insert(to_string(current)).second) forms.push_back(current);
  }
  if (auto products = algebra::products_reshaped(current, tiles, real);
      products && seen.insert(to_string(*products)).second) {
    current = *std::move(products);
    forms.push_back(current);
  }
  if (auto joined = algebra::joined_last(current); joined && seen.insert(to_string(*joined)).second)
    forms.push_back(*std::move(joined));
  return forms;
}

}  // namespace kerf::ir
