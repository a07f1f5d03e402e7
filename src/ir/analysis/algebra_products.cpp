#include "ir/analysis/algebra_products.hpp"

#include <algorithm>

#include "ir/analysis/graph_copy.hpp"

namespace kerf::ir::algebra {
namespace {

constexpr std::int64_t kTile = 128;          // rows and columns of results that one group of threads computes
constexpr std::int64_t kShortestSum = 1024;  // of a piece of a long one
constexpr std::int64_t kMostParts = 256;
constexpr std::int64_t kFewChannels = 16;  // a product over fewer has no kernel for matrix units

bool has(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

class Reshaper : GraphCopy {
 public:
  Reshaper(const Graph& graph, std::int64_t tiles, const Bindings& real)
      : GraphCopy(graph), tiles_(tiles), real_(real) {}

  std::optional<Graph> run() {
    const bool changed = copy([&](const Node& node) -> std::optional<NodeId> {
      if (is_float(node.dtype) && is<ConvAttr>(node)) return pointwise(node);
      if (is_float(node.dtype) && is<ContractAttr>(node)) return contraction(node);
      return std::nullopt;
    });
    if (!changed) return std::nullopt;
    return simplify(result_);
  }

 private:
  NodeId reshape(NodeId x, Shape shape) {
    if (std::equal(shape.begin(), shape.end(), result_[x].shape.begin(), result_[x].shape.end())) return x;
    return add(Node{ReshapeAttr{}, result_[x].dtype, std::move(shape), {x}, {}});
  }
  /// Axis d of the result is axis order[d] of x.
  NodeId transpose(NodeId x, const std::vector<int>& order) {
    if (std::is_sorted(order.begin(), order.end())) return x;
    ViewAttr view;
    view.axes.resize(order.size());
    Shape shape;
    for (std::size_t out = 0; out < order.size(); ++out) {
      view.axes[static_cast<std::size_t>(order[out])].terms = {{static_cast<int>(out), 1}};
      shape.push_back(result_[x].shape[static_cast<std::size_t>(order[out])]);
    }
    return add(Node{std::move(view), result_[x].dtype, std::move(shape), {x}, {}});
  }

  std::optional<NodeId> pointwise(const Node& node) {
    const auto& conv = attr<ConvAttr>(node);
    const Shape &x = result_[node.args[0]].shape, w = result_[node.args[1]].shape;
    const auto all = [](const std::vector<std::int64_t>& list, std::int64_t wanted) {
      return std::all_of(list.begin(), list.end(), [&](std::int64_t v) { return v == wanted; });
    };
    const bool plain = conv.groups.is_one() && all(conv.stride, 1) && all(conv.padding, 0) &&
                       (!conv.transposed || all(conv.output_padding, 0)) &&
                       std::all_of(w.begin() + 2, w.end(), [](const Dim& taps) { return taps.is_one(); });
    if (!plain || (x[1].is_constant() && x[1].constant() < kFewChannels)) return std::nullopt;
    const int filter = static_cast<int>(x.size());
    ContractAttr labels;
    for (int d = 0; d < filter; ++d) labels.lhs.push_back(d);
    labels.rhs = conv.transposed ? std::vector<int>{1, filter} : std::vector<int>{filter, 1};
    labels.out = labels.lhs;
    labels.out[1] = filter;
    const NodeId weights = reshape(node.args[1], {w[0], w[1]});
    return contraction_or(Node{labels, node.dtype, node.shape, {node.args[0], weights}, {}});
  }

  NodeId contraction_or(Node node) {
    if (const auto other = contraction(node)) return *other;
    return add(std::move(node));
  }

  /// Extents of a contraction's labels.
  std::map<int, Dim> extents(const Node& node) const {
    const auto& labels = attr<ContractAttr>(node);
    std::map<int, Dim> found;
    for (std::size_t d = 0; d < labels.lhs.size(); ++d) found[labels.lhs[d]] = result_[node.args[0]].shape[d];
    for (std::size_t d = 0; d < labels.rhs.size(); ++d) found[labels.rhs[d]] = result_[node.args[1]].shape[d];
    return found;
  }

  std::optional<NodeId> contraction(const Node& node) {
    if (const auto vector = along_a_matrix(node, 0)) return vector;
    if (const auto vector = along_a_matrix(node, 1)) return vector;
    return in_pieces(node);
  }

  /// The contraction as a reduction over operand `which`, when that has every label which is more than one long.
  std::optional<NodeId> along_a_matrix(const Node& node, std::size_t which) {
    const auto& labels = attr<ContractAttr>(node);
    const auto& own = which == 0 ? labels.lhs : labels.rhs;
    const auto& other = which == 0 ? labels.rhs : labels.lhs;
    const auto sizes = extents(node);
    const auto single = [&](int label) { return sizes.at(label).is_one(); };
    for (const int label : other)
      if (!single(label) && !has(own, label)) return std::nullopt;
    std::vector<int> summed;
    for (std::size_t d = 0; d < own.size(); ++d)
      if (!has(labels.out, own[d])) summed.push_back(static_cast<int>(d));
    // An outer product or a scaled matrix is no sum; a sum of a few products is as well off as it was.
    const bool sums =
        std::any_of(summed.begin(), summed.end(), [&](int d) { return !single(own[static_cast<std::size_t>(d)]); });
    if (!sums) return std::nullopt;
    const NodeId matrix = node.args[which];
    const NodeId term = add(Node{MapAttr{MapOp::mul},
                                 node.dtype,
                                 result_[matrix].shape,
                                 {matrix, spread(node.args[1 - which], other, own)},
                                 {}});
    Shape shape;
    std::vector<int> kept;
    for (const int label : own) {
      if (!has(labels.out, label)) continue;
      kept.push_back(label);
      shape.push_back(sizes.at(label));
    }
    const NodeId sum = add(Node{ReduceAttr{ReduceOp::sum, summed, false}, node.dtype, shape, {term}, {}});
    std::vector<int> order;  // the axes as the result has them; those of one element come back with the reshape
    for (const int label : labels.out)
      if (const auto at = std::find(kept.begin(), kept.end(), label); at != kept.end())
        order.push_back(static_cast<int>(at - kept.begin()));
    return reshape(transpose(sum, order), node.shape);
  }

  /// An operand with its axes in the order of `target`, and extent 1 where it has none.
  NodeId spread(NodeId x, const std::vector<int>& labels, const std::vector<int>& target) {
    std::vector<int> order;
    Shape shape;
    for (const int label : target) {
      const auto at = std::find(labels.begin(), labels.end(), label);
      shape.push_back(at == labels.end() ? Dim(1) : result_[x].shape[static_cast<std::size_t>(at - labels.begin())]);
      if (at != labels.end()) order.push_back(static_cast<int>(at - labels.begin()));
    }
    for (int d = 0; d < static_cast<int>(labels.size()); ++d)  // of one element: they vanish in the reshape
      if (!has(order, d)) order.push_back(d);
    return reshape(transpose(x, order), std::move(shape));
  }

  /// Sums of `kShortestSum` products or more, as many as are missing for `tiles_`.
  std::optional<NodeId> in_pieces(const Node& node) {
    const auto& labels = attr<ContractAttr>(node);
    const auto symbolic = extents(node);
    std::map<int, std::int64_t> sizes;
    for (const auto& [label, size] : symbolic) {
      const auto value = size.evaluate(real_);
      if (!value) return std::nullopt;
      sizes[label] = *value;
    }
    std::int64_t rows = 1, columns = 1, batch = 1;
    for (const int label : labels.out)
      (has(labels.lhs, label) && has(labels.rhs, label) ? batch
       : has(labels.lhs, label)                         ? rows
                                                        : columns) *= sizes.at(label);
    const std::int64_t there = batch * ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
    if (there <= 0 || there * 2 >= tiles_) return std::nullopt;
    int longest = -1;
    for (const int label : labels.lhs)
      if (!has(labels.out, label) && has(labels.rhs, label) && (longest < 0 || sizes.at(label) > sizes.at(longest)))
        longest = label;
    if (longest < 0) return std::nullopt;
    const std::int64_t total = sizes.at(longest);
    std::int64_t pieces = 1;
    for (std::int64_t more = 2; more <= kMostParts && there * more < 2 * tiles_; more *= 2) {
      const std::int64_t length = total / more;
      // A piece has the same length on every shape, so that indices have numbers for strides.
      if (total % more == 0 && length >= kShortestSum &&
          floor_div(symbolic.at(longest), length) * Dim(length) == symbolic.at(longest))
        pieces = more;
    }
    if (pieces < 4) return std::nullopt;
    return added_up(node, longest, floor_div(symbolic.at(longest), total / pieces), total / pieces);
  }

  NodeId added_up(const Node& node, int label, const Dim& pieces, std::int64_t length) {
    ContractAttr labels = attr<ContractAttr>(node);
    int piece = 0;  // a new label
    for (const auto* list : {&labels.lhs, &labels.rhs, &labels.out})
      for (const int known : *list) piece = std::max(piece, known + 1);
    const auto cut = [&](NodeId x, std::vector<int>& own) {
      const auto axis = static_cast<std::size_t>(std::find(own.begin(), own.end(), label) - own.begin());
      ViewAttr view;
      Shape shape;
      for (std::size_t d = 0, out = 0; d < own.size(); ++d) {
        const int at = static_cast<int>(out);
        if (d != axis) {
          view.axes.push_back({0, {{at, 1}}, {}});
          shape.push_back(result_[x].shape[d]);
          out += 1;
          continue;
        }
        view.axes.push_back({0, {{at, length}, {at + 1, 1}}, {}});
        shape.push_back(pieces);
        shape.emplace_back(length);
        out += 2;
      }
      own.insert(own.begin() + static_cast<std::ptrdiff_t>(axis), piece);
      return add(Node{std::move(view), result_[x].dtype, std::move(shape), {x}, {}});
    };
    const NodeId lhs = cut(node.args[0], labels.lhs), rhs = cut(node.args[1], labels.rhs);
    labels.out.insert(labels.out.begin(), piece);
    Shape shape = node.shape;
    shape.insert(shape.begin(), pieces);
    const NodeId parts = add(Node{std::move(labels), node.dtype, std::move(shape), {lhs, rhs}, {}});
    return add(Node{ReduceAttr{ReduceOp::sum, {0}, false}, node.dtype, node.shape, {parts}, {}});
  }

  std::int64_t tiles_;
  const Bindings& real_;
};

}  // namespace

std::optional<Graph> products_reshaped(const Graph& graph, std::int64_t tiles, const Bindings& real) {
  return Reshaper(graph, tiles, real).run();
}

}  // namespace kerf::ir::algebra
