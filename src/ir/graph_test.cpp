#include "ir/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "ir/builder.hpp"

namespace kerf::ir {
namespace {

TEST(MapOp, EveryOperatorHasANameAndAnArity) {
  EXPECT_EQ(map_op_name(MapOp::add), "add");
  EXPECT_EQ(map_op_name(MapOp::cast), "cast");
  EXPECT_EQ(map_op_arity(MapOp::select), 3);
  EXPECT_EQ(map_op_arity(MapOp::sigmoid), 1);
  EXPECT_EQ(map_op_arity(MapOp::not_equal), 2);
  EXPECT_EQ(reduce_op_name(ReduceOp::all), "all");
}

TEST(Simplify, DropsWhatNoOutputNeedsButKeepsInputs) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {Dim(3)});
  b.input("unused", DType::f32, {Dim(3)});
  const NodeId dead = *b.map(MapOp::exp, {x});
  static_cast<void>(*b.map(MapOp::log, {dead}));
  b.output("y", *b.map(MapOp::neg, {x}));
  const Graph g = simplify(b.take());
  EXPECT_EQ(g.nodes.size(), 3U);
  ASSERT_EQ(g.inputs.size(), 2U);
  EXPECT_EQ(g.inputs[1].name, "unused");
  EXPECT_EQ(attr<MapAttr>(g[g.outputs[0].node]).op, MapOp::neg);
}

TEST(Simplify, MergesCommonSubexpressions) {
  Graph g;
  g.nodes.push_back({InputAttr{"x"}, DType::f32, {Dim(3)}, {}, {}});
  g.nodes.push_back({MapAttr{MapOp::exp}, DType::f32, {Dim(3)}, {0}, "a#1"});
  g.nodes.push_back({MapAttr{MapOp::exp}, DType::f32, {Dim(3)}, {0}, "b#1"});
  g.nodes.push_back({MapAttr{MapOp::add}, DType::f32, {Dim(3)}, {1, 2}, {}});
  g.inputs = {{"x", 0}};
  g.outputs = {{"y", 3}};
  const Graph simple = simplify(g);
  ASSERT_EQ(simple.nodes.size(), 3U);
  EXPECT_EQ(simple[2].args, (std::vector<NodeId>{1, 1}));
}

/// The value that a map of scalar constants folds to, or nothing.
std::optional<double> folded(MapOp op, const std::vector<double>& values, DType dtype) {
  Builder b;
  std::vector<NodeId> args;
  for (const double value : values) args.push_back(b.constant(value, dtype));
  b.output("y", *b.map(op, args));
  const Graph g = simplify(b.take());
  const Node& node = g[g.outputs[0].node];
  if (!is<ConstantAttr>(node)) return std::nullopt;
  return attr<ConstantAttr>(node).value;
}

TEST(Simplify, FoldsConstantsExactlyOrNotAtAll) {
  EXPECT_EQ(folded(MapOp::mul, {3, 7}, DType::i32), 21);
  EXPECT_EQ(folded(MapOp::floor_div, {-7, 2}, DType::i64), -4);
  EXPECT_EQ(folded(MapOp::remainder, {-7, 2}, DType::i64), 1);
  EXPECT_EQ(folded(MapOp::sqrt, {2}, DType::f32), std::sqrt(2.0)) << "in double, whatever the dtype";
  EXPECT_EQ(folded(MapOp::maximum, {1, 2}, DType::f64), 2);
  EXPECT_EQ(folded(MapOp::less, {1, 2}, DType::f64), 1);
  EXPECT_FALSE(folded(MapOp::mul, {65536, 65536}, DType::i32)) << "does not fit i32";
  EXPECT_FALSE(folded(MapOp::floor_div, {1, 0}, DType::i64)) << "no value";
  EXPECT_FALSE(folded(MapOp::mul, {1e10, 1e10}, DType::i64)) << "beyond 2^53";
}

TEST(Graph, PrintsOneLinePerNode) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {Dim::symbol("n"), Dim(4)});
  b.set_origin("f#1");
  const NodeId t = *b.transpose(x, {1, 0});
  b.set_origin("");
  b.output("y", *b.reduce(ReduceOp::sum, t, {-1}, true));
  EXPECT_EQ(to_string(b.take()),
            "%0: f32[n, 4] = input x\n"
            "%1: f32[4, n] = view [i1, i0] (%0)  # f#1\n"
            "%2: f32[4, 1] = reduce sum axes=[1] keepdims (%1)\n"
            "output y = %2\n");
}

}  // namespace
}  // namespace kerf::ir
