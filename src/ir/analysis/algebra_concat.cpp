#include "ir/analysis/algebra_concat.hpp"

#include <algorithm>
#include <optional>

#include "ir/analysis/graph_copy.hpp"

namespace kerf::ir::algebra {
namespace {

constexpr std::size_t kMostPieces = 8;  // every operator is written once per piece

class Joiner : GraphCopy {
 public:
  explicit Joiner(const Graph& graph) : GraphCopy(graph) {}

  Graph run() {
    copy([&](const Node& node) { return is<MapAttr>(node) ? pushed_inside(node) : std::nullopt; });
    return simplify(result_);
  }

 private:
  /// The concatenation that `map`, whose arguments are of the result graph, becomes; nothing when no argument is one.
  std::optional<NodeId> pushed_inside(const Node& map) {
    for (const NodeId arg : map.args) {
      if (!is<ConcatAttr>(result_[arg]) || result_[arg].args.size() > kMostPieces) continue;
      const Node joined = result_[arg];
      const auto from_end = joined.shape.size() - static_cast<std::size_t>(attr<ConcatAttr>(joined).axis);
      const std::size_t axis = map.shape.size() - from_end;
      if (!(joined.shape[joined.shape.size() - from_end] == map.shape[axis])) continue;  // it is stretched
      return join(map, joined, axis, from_end);
    }
    return std::nullopt;
  }

  NodeId join(const Node& map, const Node& joined, std::size_t axis, std::size_t from_end) {
    Node result{ConcatAttr{static_cast<int>(axis)}, map.dtype, map.shape, {}, {}};
    Dim begin = 0;
    for (std::size_t k = 0; k < joined.args.size(); ++k) {
      const Shape& shape = result_[joined.args[k]].shape;
      const Dim length = shape[shape.size() - from_end];
      Node piece = map;
      piece.shape[axis] = length;
      for (NodeId& arg : piece.args) arg = part(arg, from_end, k, begin, length);
      result.args.push_back(add(std::move(piece)));
      begin = begin + length;
    }
    return add(std::move(result));
  }

  /// Elements [begin, begin + length) of an argument along the axis; all of it when it has no such axis.
  NodeId part(NodeId arg, std::size_t from_end, std::size_t k, const Dim& begin, const Dim& length) {
    const Node node = result_[arg];
    if (node.shape.size() < from_end || node.shape[node.shape.size() - from_end].is_one()) return arg;
    const std::size_t axis = node.shape.size() - from_end;
    if (is<ConcatAttr>(node) && attr<ConcatAttr>(node).axis == static_cast<int>(axis) && k < node.args.size()) {
      Dim start = 0;
      for (std::size_t i = 0; i < k; ++i) start = start + result_[node.args[i]].shape[axis];
      if (start == begin && result_[node.args[k]].shape[axis] == length) return node.args[k];
    }
    ViewAttr view;
    for (std::size_t d = 0; d < node.shape.size(); ++d)
      view.axes.push_back({d == axis ? begin : Dim(0), {{static_cast<int>(d), 1}}, std::nullopt});
    Node narrowed{std::move(view), node.dtype, node.shape, {arg}, {}};
    narrowed.shape[axis] = length;
    return add(std::move(narrowed));
  }
};

}  // namespace

std::optional<Graph> joined_last(const Graph& graph) {
  Graph joined = Joiner(graph).run();
  for (const Node& node : joined.nodes)
    for (const NodeId arg : node.args)
      if (is<ConcatAttr>(joined[arg])) return std::nullopt;
  return joined;
}

}  // namespace kerf::ir::algebra
