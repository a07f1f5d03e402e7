#pragma once
// The rewrite behind with_error_bounds. Internal to error_bound*.cpp.

#include <functional>
#include <map>
#include <vector>

#include "ir/analysis/error_bound_arithmetic.hpp"

namespace kerf::ir::bound {

/// What became of a node. Floats have a bound, integers and bools a doubt; kNone (decided statically) means exact.
struct Traced {
  NodeId value = 0;            ///< floats as f64
  NodeId bound = kNone;        ///< f64, of the node's shape
  NodeId doubt = kNone;        ///< bool, of the node's shape: the value may legitimately differ
  bool representable = false;  ///< exact, and no implementation has to round it to store it in the node's dtype
};

class Rewriter {
 public:
  Rewriter(const Graph& graph, const ErrorModel& model, const std::vector<Bindings>& shape_sets)
      : graph_(graph), builder_(shape_sets), a_(builder_, model) {}

  Result<Graph> rewrite();

 private:
  const Node& node(NodeId id) const { return graph_[id]; }
  const Traced& traced(NodeId id) const { return traced_[static_cast<std::size_t>(id)]; }
  Traced trace(NodeId id);
  void write_output(const NamedNode& output);
  NodeId fit(NodeId bound, const Shape& shape);  ///< broadcast to the node's shape; kNone stays

  // Structure: moves values, bounds and doubts alike.
  Traced moved(const Node& node);
  NodeId move_one(const Node& node, NodeId x, bool is_value);
  Traced concat(const Node& node);
  Traced gather(const Node& node);  // error_bound_gather.cpp
  Traced top(const Node& node);

  // Elementwise (error_bound_map.cpp).
  Traced map(const Node& node);
  NodeId real_bound(const Node& node, NodeId result);
  NodeId product_bound(const Node& node, NodeId result);
  NodeId quotient_bound(const Node& node, NodeId result);
  NodeId power_bound(const Node& node, NodeId result);
  NodeId extreme_bound(const Node& node, NodeId result);
  NodeId step_doubt(MapOp op, NodeId x, NodeId bx);
  NodeId comparison_doubt(const Node& node);
  Traced select(const Node& node, NodeId value);
  Traced cast(const Node& node, NodeId value);
  NodeId storage_rounding(NodeId value, DType dtype);

  // Loops (error_bound_reduce.cpp).
  Traced reduce(const Node& node);
  Traced arg_reduce(const Node& node);
  Traced logical_reduce(const Node& node);
  Traced scan(const Node& node);
  Traced product_sum(const Node& node);  ///< contractions and convolutions
  NodeId walked_products(const Traced& x, const Traced& y, NodeId value, NodeId growth,
                         const std::function<NodeId(NodeId, NodeId)>& combine);
  Traced pool(const Node& node);
  NodeId apply_pool(const Node& node, NodeId x, PoolOp op);
  /// Bound of a sum of `x` that came out as `result`: what adding up brings, and the errors of the terms. `total` sums
  /// any node of x's shape in the same way; `growth` is a node of the result's shape or a scalar.
  NodeId sum_bound(const Traced& x, bool non_negative, NodeId result, NodeId growth,
                   const std::function<NodeId(NodeId)>& total);
  NodeId accumulated(NodeId result, NodeId sum_of_sizes, NodeId growth);
  /// The root of `squares` and of what roundings of the sum itself bring, where errors walk.
  NodeId walked(NodeId result, NodeId squares, NodeId growth);
  /// Bound of a product of many factors; `total` as above.
  NodeId many_factors_bound(const Traced& x, NodeId result, NodeId growth, const std::function<NodeId(NodeId)>& total);
  NodeId growth(const Dim& terms);  ///< (1 + sqrt(terms) / 2) * accumulate, as a scalar node
  NodeId count(const Dim& dim);     ///< as a scalar f64 node
  bool is_non_negative(NodeId id) const { return non_negative_[static_cast<std::size_t>(id)]; }
  bool find_non_negative(const Node& node) const;

  const Graph& graph_;
  Builder builder_;
  Arithmetic a_;
  std::map<NodeId, NodeId> inputs_;  // input nodes of graph_, created first so that they keep their order
  std::vector<Traced> traced_;
  std::vector<bool> non_negative_;  // by node: known from the operators alone
};

}  // namespace kerf::ir::bound
