#pragma once
// The op graph: what a task computes, as a list of nodes in dependency order.
//
// The front-end knows about a hundred functions (softmax, layer_norm, cross_entropy, ...); all of them are expanded
// into the closed set of primitive kinds below when the expression is parsed. The interpreter, the code generator,
// the error bound and the cost model each handle these kinds and nothing else, which is what keeps them in step.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/dim.hpp"
#include "ir/dtype.hpp"
#include "ir/map_op.hpp"

namespace kerf::ir {

using NodeId = int;  ///< index into Graph::nodes; arguments always have smaller ids

// clang-format off
enum class ReduceOp { sum, prod, max, min, argmax, argmin, any, all };
std::string_view reduce_op_name(ReduceOp op);

struct InputAttr { std::string name; };
struct ConstantAttr { double value = 0; };                       ///< shape []; bool: 0 or 1; exact for integers < 2^53
struct IotaAttr { int axis = 0; };                               ///< value = index along `axis`; dtype i64 or a float
struct MapAttr { MapOp op = MapOp::add; };
struct ReshapeAttr {};                                           ///< same elements in row-major order

/// out[i...] = in[j...] with, for each input axis d, j_d = offset + sum(stride * i_axis); when `modulo` is set, j_d is
/// reduced into [0, modulo). With `fill`, an index outside the input yields the fill value (padding); without it every
/// index is inside by construction. Covers transpose, slice, flip, roll, broadcast, expand, pad, diagonal.
struct ViewAttr {
  struct Term { int axis = 0; std::int64_t stride = 1; };
  struct AxisMap { Dim offset; std::vector<Term> terms; std::optional<Dim> modulo; };
  std::vector<AxisMap> axes;                                     ///< one per input axis
  std::optional<double> fill;
};

struct ConcatAttr { int axis = 0; };                             ///< any number of arguments

/// out[i...] = x[i... with i_axis replaced by index[i...]]; args: x, index (i64), of equal rank. An extent of index that is
/// 1 stretches, apart from `axis`. An index outside the axis gives 0; the data of honest tasks has none.
struct GatherAttr { int axis = 0; };

/// Indices (i64) along `axis` of the largest elements, or the smallest, in order; as many as the node's extent there. Ties
/// go to the lower index. A NaN counts as larger than everything.
struct TopAttr { int axis = 0; bool largest = true; };

/// Reduces `axes` (sorted, distinct, non-negative). max/min propagate NaN. argmax/argmin (exactly one axis, dtype i64)
/// give the first index of the extreme; a NaN counts as the extreme, the first NaN wins. any/all: bool. The empty sum is
/// 0, the empty product 1, empty max/min/arg is refused when shapes are known. With keepdims the axes stay with extent 1.
struct ReduceAttr { ReduceOp op = ReduceOp::sum; std::vector<int> axes; bool keepdims = false; };

enum class ScanOp { sum, prod, max, min };
/// Running value along `axis`: inclusive, or exclusive (starts with the identity); `reverse` runs from the end.
struct ScanAttr { ScanOp op = ScanOp::sum; int axis = 0; bool exclusive = false; bool reverse = false; };

/// Sum over products of two operands, as a two-operand einsum: every axis of lhs, rhs and out carries a label; labels
/// missing from `out` are summed. Labels within one operand are distinct. matmul is lhs {0,1} rhs {1,2} out {0,2}.
struct ContractAttr { std::vector<int> lhs, rhs, out; };

/// N-d cross-correlation, layouts [batch, channels, spatial...]; args: x, w. Forward: w is [out, in/groups, k...].
/// Transposed: w is [in, out/groups, k...] and the output extent is (n-1)*stride - 2*padding + dilation*(k-1) +
/// output_padding + 1. Vectors have one entry per spatial axis. Bias is a separate add.
struct ConvAttr {
  std::vector<std::int64_t> stride, padding, dilation, output_padding;
  Dim groups = 1;  ///< may be a symbol: a depthwise convolution has as many as channels
  bool transposed = false;
};

enum class PoolOp { max, sum };
/// Windowed reduction over the trailing kernel.size() axes. Padding never contributes (max: as -inf; sum: as 0).
/// The output extent is in the node's shape (it carries ceil_mode). Windows may reach past the padded end.
struct PoolAttr { PoolOp op = PoolOp::max; std::vector<std::int64_t> kernel, stride, padding, dilation; };

/// As PoolAttr over the trailing `rank` axes with the window [floor(i*n/m), ceil((i+1)*n/m)) for output i of m.
struct AdaptivePoolAttr { PoolOp op = PoolOp::sum; int rank = 2; };
// clang-format on

using Attr = std::variant<InputAttr, ConstantAttr, IotaAttr, MapAttr, ReshapeAttr, ViewAttr, ConcatAttr, ReduceAttr,
                          ScanAttr, ContractAttr, ConvAttr, PoolAttr, AdaptivePoolAttr, GatherAttr, TopAttr>;

struct Node {
  Attr attr;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<NodeId> args;
  std::string origin;  ///< the front-end function this node came from, with its occurrence: "softmax#2"; may be empty
};

struct NamedNode {
  std::string name;
  NodeId node = 0;
};

/// A relation between extents that a graph relies on and that their text does not show.
struct Condition {
  enum class Relation { equal, at_most } relation = Relation::equal;
  Dim left, right;
};
Result<bool> holds(const Condition& condition, const Bindings& bindings);
std::string to_string(const Condition& condition);  ///< "heads*width == cols", "3 <= rows"

/// Nodes in dependency order; `inputs` in task order (each an input node, used or not); `outputs` in declared order.
struct Graph {
  std::vector<Node> nodes;
  std::vector<NamedNode> inputs;
  std::vector<NamedNode> outputs;
  /// What the shape symbols must fulfil for the nodes to mean what was written: every shape set that the graph was
  /// built with does, other shapes may not. Kept by the parser; rewrites of a graph leave it out.
  std::vector<Condition> conditions{};

  const Node& operator[](NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
};

/// The attribute of a known kind; a bug if the node is of another kind.
template <class T>
const T& attr(const Node& node) {
  return std::get<T>(node.attr);
}
template <class T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.attr);
}

/// Text that two nodes share exactly when they apply the same operation to the same arguments; `origin` is left out.
std::string structural_key(const Node& node);

/// Without the nodes that no output needs; inputs stay. Common subexpressions are merged and constants folded.
Graph simplify(const Graph& graph);

/// One line per node, for people and tests.
std::string to_string(const Graph& graph);

}  // namespace kerf::ir
