#pragma once
// Builds graphs node by node with shape and dtype inference. Used by the expression front-end and by graph rewrites.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace kerf::ir {

/// Appends primitive nodes. Shape mismatches are errors that name both shapes; two extents also count as equal when
/// they agree under every one of `shape_sets`. Identical nodes are created once. Not thread-safe.
class Builder {
 public:
  explicit Builder(std::vector<Bindings> shape_sets = {});

  NodeId input(const std::string& name, DType dtype, Shape shape);
  NodeId constant(double value, DType dtype);
  NodeId iota(int axis, Shape shape, DType dtype);
  Result<NodeId> map(MapOp op, std::vector<NodeId> args);  ///< broadcasts, promotes, inserts casts
  NodeId cast(NodeId x, DType dtype);                      ///< x itself when the type is right
  Result<NodeId> reshape(NodeId x, Shape shape);           ///< one extent may be -1
  Result<NodeId> transpose(NodeId x, const std::vector<int>& order);
  Result<NodeId> broadcast_to(NodeId x, Shape shape);
  NodeId view(NodeId x, ViewAttr view, Shape shape);  ///< unchecked
  Result<NodeId> concat(std::vector<NodeId> args, int axis);
  Result<NodeId> gather(NodeId x, NodeId index, int axis);
  Result<NodeId> top(NodeId x, int axis, const Dim& count, bool largest);              ///< indices
  Result<NodeId> reduce(ReduceOp op, NodeId x, std::vector<int> axes, bool keepdims);  ///< empty axes: all of them
  Result<NodeId> scan(ScanAttr attr, NodeId x);
  Result<NodeId> contract(NodeId lhs, NodeId rhs, ContractAttr attr);
  Result<NodeId> matmul(NodeId a, NodeId b);  ///< batching and broadcasting as in NumPy
  Result<NodeId> conv(NodeId x, NodeId w, ConvAttr attr);
  Result<NodeId> pool(NodeId x, PoolAttr attr, bool ceil_mode);
  Result<NodeId> adaptive_pool(PoolOp op, NodeId x, const std::vector<Dim>& output);

  const Node& node(NodeId id) const { return graph_[id]; }
  const std::vector<Bindings>& shape_sets() const { return shape_sets_; }
  bool same_extent(const Dim& a, const Dim& b) const;
  /// Whether a <= b for all shapes, or at least under every shape set.
  bool at_most(const Dim& a, const Dim& b) const;
  /// Keeps a relation that holds under every shape set as a condition of the graph. Nothing when it always holds.
  void rely_on(Condition condition) const;

  /// Nodes created from now on carry this origin ("" for none).
  void set_origin(std::string origin) { origin_ = std::move(origin); }
  void output(std::string name, NodeId node);
  Graph take();

 private:
  NodeId add(Node node);
  Graph graph_;
  std::vector<Bindings> shape_sets_;
  std::string origin_;
  mutable std::vector<Condition> conditions_;  // questions are const; what their answers rely on is noted all the same
  std::map<std::string, NodeId> known_;        // structural key -> node, so that identical nodes are shared
};

}  // namespace kerf::ir
