#pragma once
// The rewrite behind algebraic_forms. Internal to algebra*.cpp.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace kerf::ir::algebra {

enum class Rules { layout, linear, pooling };  ///< each includes the ones before it

using Axes = std::vector<int>;  ///< sorted, distinct

inline bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// A view that only permutes and stretches axes: for each axis of its source the axis of the view, or -1 for a source
/// axis of extent 1 that is dropped. None when it does anything else.
std::optional<std::vector<int>> simple_view(const Node& view, const Node& source);

/// Copies a simplified graph node by node, each in its rewritten form. Extents were checked when the graph was built.
class Rewriter {
 public:
  Rewriter(const Graph& graph, Rules rules);
  Graph rewrite();

 private:
  // The new graph.
  const Node& made(NodeId id) const { return result_[id]; }
  NodeId add(Node node);  ///< identical nodes once
  NodeId map(MapOp op, const std::vector<NodeId>& args);
  NodeId reshape(NodeId x, const Shape& shape);
  NodeId reduce(ReduceOp op, NodeId x, const Axes& axes);  ///< without keepdims; x itself when there are no axes
  NodeId count(const Dim& extent, DType dtype);            ///< as a scalar
  NodeId transpose(NodeId x, const std::vector<int>& order);
  NodeId view(NodeId x, ViewAttr attr, Shape shape);
  NodeId contract(NodeId lhs, NodeId rhs, const ContractAttr& attr, DType dtype, Shape shape);
  void absorb(NodeId& operand, std::vector<int>& labels, const std::vector<int>& other);

  // Nodes of the old graph.
  const Node& old(NodeId id) const { return graph_[id]; }
  NodeId done(NodeId id) const { return done_[static_cast<std::size_t>(id)]; }
  bool only_use(NodeId id) const { return uses_[static_cast<std::size_t>(id)] == 1; }
  NodeId emit(NodeId id);
  NodeId emit_view(NodeId id);
  NodeId emit_reduce(NodeId id);
  NodeId emit_contract(NodeId id);
  NodeId reduced(ReduceOp op, NodeId id, const Axes& axes);        ///< in the cheapest way the rules know
  NodeId reduced_as_is(ReduceOp op, NodeId id, const Axes& axes);  ///< of the finished node, through permuting views

  // Linear rules (algebra_linear.cpp). Each gives the sum of an old node over `axes`, without keepdims; the optional
  // ones only where that is less work than summing the finished node.
  struct Part {
    NodeId node = -1;
    bool gained = false;
  };
  NodeId sum(NodeId id, const Axes& axes);
  std::optional<NodeId> pushed_sum(NodeId id, const Axes& axes);
  std::optional<NodeId> pushed_through_map(NodeId id, const Axes& axes);
  std::optional<NodeId> pushed_through_view(NodeId id, const Axes& axes);
  std::optional<NodeId> pushed_through_reshape(NodeId id, const Axes& axes);
  std::optional<NodeId> pushed_into_contract(NodeId id, const Axes& axes);
  Part sum_of_argument(NodeId arg, const Node& user, const Axes& axes);
  NodeId without(NodeId arg, const Node& user, const Axes& axes);  ///< an argument that does not vary along them
  bool varies(NodeId arg, const Node& user, const Axes& axes) const;
  std::optional<NodeId> pushed_extreme(ReduceOp op, NodeId id, const Axes& axes);
  struct Scaled {
    NodeId node = -1;                             ///< old: what is left without its scalar factor
    std::vector<std::pair<MapOp, NodeId>> steps;  ///< how to put the factor back (mul, div by a new scalar; neg)
  };
  Scaled unscaled(NodeId id) const;

  // Convolutions and windows (algebra_window.cpp).
  std::optional<NodeId> pushed_into_conv(NodeId id, const Axes& axes);
  NodeId positions_summed(const Node& conv, NodeId x, NodeId w);
  std::optional<NodeId> chained_pool(const Node& outer);
  std::optional<NodeId> pushed_pool(NodeId id, const PoolAttr& pool, const Shape& shape);
  NodeId pooled_conv(NodeId id, const PoolAttr& pool, const Shape& shape);

  const Graph& graph_;
  Rules rules_;
  std::vector<int> uses_;     // of each old node, outputs included
  std::vector<NodeId> done_;  // old node -> new node
  Graph result_;
  std::map<std::string, NodeId> known_;
  std::string origin_;
};

}  // namespace kerf::ir::algebra
