#include "ir/builder.hpp"

#include <gtest/gtest.h>

namespace kerf::ir {
namespace {

const Dim kRows = Dim::symbol("rows"), kCols = Dim::symbol("cols");

std::string message(const Result<NodeId>& result) { return result ? "accepted" : result.error().message; }

TEST(Builder, IdenticalNodesAreCreatedOnce) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {kRows});
  const NodeId first = *b.map(MapOp::exp, {x});
  b.set_origin("softmax#1");
  EXPECT_EQ(first, *b.map(MapOp::exp, {x})) << "the origin does not make a node different";
  EXPECT_NE(b.constant(0.0, DType::f32), b.constant(-0.0, DType::f32)) << "negative zero is another value";
}

TEST(Builder, PromotesAndCastsArguments) {
  Builder b;
  const NodeId half = b.input("h", DType::f16, {kRows}), whole = b.input("i", DType::i32, {kRows});
  const Node sum = b.node(*b.map(MapOp::add, {half, whole}));
  EXPECT_EQ(sum.dtype, DType::f16);
  EXPECT_EQ(b.node(sum.args[1]).dtype, DType::f16);
  EXPECT_EQ(b.node(*b.map(MapOp::div, {whole, whole})).dtype, DType::f32) << "integers divide as floats";
  EXPECT_EQ(b.node(*b.map(MapOp::floor_div, {whole, whole})).dtype, DType::i32);
  EXPECT_EQ(b.node(*b.map(MapOp::exp, {whole})).dtype, DType::f32);
  EXPECT_EQ(b.node(*b.map(MapOp::less, {half, whole})).dtype, DType::boolean);
  EXPECT_EQ(*b.map(MapOp::floor, {whole}), whole) << "an integer is its own floor";
  const NodeId flag = b.input("m", DType::boolean, {kRows});
  EXPECT_EQ(attr<MapAttr>(b.node(*b.map(MapOp::maximum, {flag, flag}))).op, MapOp::logical_or);
  EXPECT_EQ(b.node(*b.map(MapOp::add, {flag, flag})).dtype, DType::i64) << "bools are counted";
}

TEST(Builder, BroadcastsOnlyWhatIsLiterallyOne) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {kRows, Dim(1)}), y = b.input("y", DType::f32, {kCols});
  EXPECT_EQ(to_string(b.node(*b.map(MapOp::mul, {x, y})).shape), "[rows, cols]");
  const NodeId z = b.input("z", DType::f32, {kRows});
  EXPECT_NE(message(b.map(MapOp::mul, {y, z})).find("[cols] and [rows]"), std::string::npos);
}

TEST(Builder, ExtentsThatAgreeUnderEveryShapeSetMatch) {
  Builder b({{{"rows", 4}, {"cols", 4}}, {{"rows", 6}, {"cols", 6}}});
  EXPECT_TRUE(b.same_extent(kRows, kCols));
  EXPECT_FALSE(b.same_extent(kRows, Dim(4)));
  EXPECT_FALSE(Builder().same_extent(kRows, kCols)) << "without shape sets nothing is known";
}

TEST(Builder, NotesWhatOnlyTheShapeSetsShow) {
  Builder b({{{"rows", 4}, {"cols", 4}}});
  EXPECT_TRUE(b.same_extent(kRows, kRows));
  EXPECT_TRUE(b.same_extent(kRows, kCols));
  EXPECT_TRUE(b.same_extent(kRows, kCols));
  EXPECT_FALSE(b.same_extent(kRows, Dim(5)));
  EXPECT_TRUE(b.at_most(0, kRows)) << "extents are never negative";
  EXPECT_TRUE(b.at_most(3, kCols));
  EXPECT_FALSE(b.at_most(5, kCols));
  const Graph graph = b.take();
  ASSERT_EQ(graph.conditions.size(), 2u);
  EXPECT_EQ(to_string(graph.conditions[0]), "rows == cols");
  EXPECT_EQ(to_string(graph.conditions[1]), "3 <= cols");
  EXPECT_TRUE(*holds(graph.conditions[0], {{"rows", 7}, {"cols", 7}}));
  EXPECT_FALSE(*holds(graph.conditions[0], {{"rows", 7}, {"cols", 8}}));
  EXPECT_FALSE(*holds(graph.conditions[1], {{"rows", 7}, {"cols", 2}}));
}

TEST(Builder, ReshapeInfersOneExtentAndRefusesTheImpossible) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {kRows, Dim(6)});
  EXPECT_EQ(to_string(b.node(*b.reshape(x, {Dim(-1), Dim(3)})).shape), "[2*rows, 3]");
  EXPECT_EQ(*b.reshape(x, {kRows, Dim(6)}), x);
  EXPECT_NE(message(b.reshape(x, {Dim(-1), Dim(-1)})).find("only one"), std::string::npos);
  EXPECT_NE(message(b.reshape(x, {kRows, Dim(5)})).find("6*rows elements"), std::string::npos);
  EXPECT_NE(message(b.reshape(x, {Dim(-1), Dim(4)})).find("do not fill"), std::string::npos) << "rows may be odd";
  EXPECT_NE(message(b.reshape(x, {Dim(-1), Dim(0)})).find("at least 1"), std::string::npos);
}

TEST(Builder, ReductionsOfNothingAreRefusedWhereTheyHaveNoValue) {
  Builder b({{{"rows", 0}}});
  const NodeId x = b.input("x", DType::f32, {kRows});
  EXPECT_TRUE(b.reduce(ReduceOp::sum, x, {0}, false));
  EXPECT_NE(message(b.reduce(ReduceOp::max, x, {0}, false)).find("at least 1"), std::string::npos);
  EXPECT_NE(message(b.reduce(ReduceOp::sum, x, {1}, false)).find("axis 1"), std::string::npos);
  EXPECT_NE(message(b.reduce(ReduceOp::sum, x, {0, -1}, false)).find("twice"), std::string::npos);
}

TEST(Builder, MatmulLeavesStretchedBatchAxesOut) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {Dim(1), Dim(3), Dim(4)}),
               y = b.input("y", DType::f32, {Dim(2), Dim(4), Dim(5)});
  const Node product = b.node(*b.matmul(x, y));
  EXPECT_EQ(to_string(product.shape), "[2, 3, 5]");
  EXPECT_EQ(b.node(product.args[0]).shape.size(), 2U);
  EXPECT_NE(message(b.matmul(y, y)).find("summed extent (5 against 4)"), std::string::npos);
}

TEST(Builder, ConvolutionExtentsFollowTheFormula) {
  Builder b;
  const Dim n = Dim::symbol("n");
  const NodeId x = b.input("x", DType::f32, {Dim(2), Dim(4), n}),
               w = b.input("w", DType::f32, {Dim(6), Dim(2), Dim(3)});
  ConvAttr forward{{2}, {1}, {2}, {0}, 2, false};
  EXPECT_EQ(to_string(b.node(*b.conv(x, w, forward)).shape), "[2, 6, ceil_div(n, 2) - 1]");
  const NodeId v = b.input("v", DType::f32, {Dim(4), Dim(3), Dim(3)});
  ConvAttr transposed{{2}, {1}, {1}, {1}, 2, true};
  EXPECT_EQ(to_string(b.node(*b.conv(x, v, transposed)).shape), "[2, 6, 2*n]");
  forward.groups = 4;
  EXPECT_NE(message(b.conv(x, w, forward)).find("8 input channels"), std::string::npos);
  transposed.output_padding = {2};
  EXPECT_NE(message(b.conv(x, v, transposed)).find("output_padding"), std::string::npos);
}

TEST(Builder, LastPoolingWindowOfCeilModeBeginsInside) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {Dim(1), Dim(1), Dim(5)});
  const auto extent = [&](std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool ceil_mode) {
    return b.node(*b.pool(x, {PoolOp::max, {kernel}, {stride}, {padding}, {1}}, ceil_mode)).shape[2].to_string();
  };
  EXPECT_EQ(extent(2, 2, 0, false), "2");
  EXPECT_EQ(extent(2, 2, 0, true), "3");
  EXPECT_EQ(extent(2, 6, 1, true), "1") << "a second window would begin in the right padding";
  EXPECT_NE(message(b.pool(x, {PoolOp::max, {2}, {1}, {2}, {1}}, false)).find("half"), std::string::npos);
  EXPECT_NE(message(b.pool(x, {PoolOp::max, {9}, {1}, {0}, {1}}, false)).find("at least 0"), std::string::npos);
}

TEST(Builder, ArgReductionOfTheWholeTensorIsFlat) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {kRows, kCols});
  const Node index = b.node(*b.reduce(ReduceOp::argmax, x, {}, false));
  EXPECT_EQ(index.dtype, DType::i64);
  EXPECT_EQ(to_string(b.node(index.args[0]).shape), "[cols*rows]");
}

TEST(Builder, ContractionChecksItsLabels) {
  Builder b;
  const NodeId x = b.input("x", DType::f32, {kRows, kCols});
  EXPECT_TRUE(b.contract(x, x, {{0, 1}, {0, 1}, {}}));
  EXPECT_NE(message(b.contract(x, x, {{0, 1}, {1, 2}, {0, 2}})).find("extents cols and rows differ"),
            std::string::npos);
  EXPECT_NE(message(b.contract(x, x, {{0, 0}, {1, 2}, {0}})).find("twice"), std::string::npos);
  EXPECT_NE(message(b.contract(x, x, {{0, 1}, {0, 1}, {7}})).find("unknown"), std::string::npos);
}

}  // namespace
}  // namespace kerf::ir
