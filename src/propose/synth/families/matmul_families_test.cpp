// What the product, convolution, pooling and attention families recognise, and what they tell their templates.

#include <gtest/gtest.h>

#include "codegen/dialects/dialects.hpp"
#include "ir/expression/expression.hpp"
#include "propose/synth/families/families.hpp"
#include "propose/synth/families/matmul_axes.hpp"
#include "propose/synth/families/matmul_epilogue.hpp"
#include "propose/synth/group_view.hpp"
#include "propose/synth/partition.hpp"

namespace kerf::synth {
namespace {

ir::TensorType typed(const std::string& name, const std::string& type) { return *ir::parse_tensor_type(name, type); }

/// The whole expression as one group.
struct Whole {
  Partition partition;
  codegen::BufferPlan plan;

  const Group& group() const { return partition.groups.front(); }
  ir::NodeId anchor() const { return group().anchors.front(); }
};

Whole whole(const std::string& expression, const std::vector<ir::TensorType>& inputs, const Bindings& symbols) {
  const auto graph = ir::parse_expression("y = " + expression, inputs, {"y"}, {symbols});
  KERF_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  auto partition = make_partition(ir::simplify(*graph), {}, {});
  KERF_CHECK(partition.has_value() && partition->groups.size() == 1, "one output is one group");
  Whole result{*std::move(partition), {}};
  GroupView view = cut_out(result.partition.plan, result.group());
  result.plan = std::move(view.plan);
  result.partition.groups.front() = std::move(view.group);
  return result;
}

TemplateValues fill(const Family& family, const Whole& w) {
  HookWriter hooks(w.plan, codegen::dialects::cpp, {}, "g0");
  auto values = family.fill(w.group(), {}, hooks);
  KERF_CHECK(values.has_value(), values ? "" : values.error().message.c_str());
  return *std::move(values);
}

const Bindings kSizes{{"b", 2}, {"m", 3}, {"n", 5}, {"k", 7}, {"s", 11}};

TEST(MatmulFamily, SortsTheAxesOfAContraction) {
  const Whole w =
      whole("einsum(\"bkmc,ncbk->bnm\", p, q)", {typed("p", "f32[b, k, m, s]"), typed("q", "f32[n, s, b, k]")}, kSizes);
  const auto axes = product_axes(w.plan.graph, w.anchor());
  ASSERT_TRUE(axes);
  EXPECT_EQ(to_string(axes->shape(axes->batch)), "[b]");
  EXPECT_EQ(to_string(axes->shape(axes->m)), "[n]")
      << "operands are swapped, so that the output's last axis is a column";
  EXPECT_EQ(to_string(axes->shape(axes->n)), "[m]");
  EXPECT_EQ(axes->extent(axes->k).to_string(), (Dim::symbol("s") * Dim::symbol("k")).to_string());
}

TEST(MatmulFamily, RefusesASumThatIsNoPartOfTheProduct) {
  ir::Graph graph;
  graph.nodes = {{ir::InputAttr{"p"}, DType::f32, {3, 7}, {}, ""},
                 {ir::InputAttr{"q"}, DType::f32, {7, 5}, {}, ""},
                 {ir::ContractAttr{{0, 1}, {1, 2}, {0, 2}}, DType::f32, {3, 5}, {0, 1}, ""},
                 {ir::ContractAttr{{0, 1}, {3, 2}, {0, 2}}, DType::f32, {3, 5}, {0, 1}, ""}};
  EXPECT_TRUE(product_axes(graph, 2));
  EXPECT_FALSE(product_axes(graph, 3)) << "both operands have an axis of their own that is summed";
}

TEST(MatmulFamily, ReadsTransposedOperandsInPlace) {
  const Whole w = whole("matmul(p, transpose(q, [1, 0]))", {typed("p", "f32[m, k]"), typed("q", "f32[n, k]")}, kSizes);
  ASSERT_TRUE(matmul_family().fits(w.plan, w.group()));
  const TemplateValues values = fill(matmul_family(), w);
  EXPECT_EQ(values.text.at("B_DIRECT"), "1");
  EXPECT_EQ(values.text.at("B_K_FAST"), "1");
  EXPECT_EQ(values.extents.at("B_SN"), "(k)");
}

TEST(MatmulFamily, KnowsWhatTheHostsTilesCanReadInPlace) {
  const std::vector<ir::TensorType> inputs{typed("p", "f32[m, k]"), typed("q", "f32[k, n]"), typed("r", "f32[n, k]")};
  const TemplateValues plain = fill(matmul_family(), whole("matmul(p, q)", inputs, kSizes));
  EXPECT_EQ(plain.text.at("A_IN_PLACE"), "1");
  EXPECT_EQ(plain.text.at("B_IN_PLACE"), "1");
  EXPECT_EQ(plain.text.at("Y_IN_ORDER"), "1");
  const TemplateValues across = fill(matmul_family(), whole("matmul(exp(p), transpose(r, [1, 0]))", inputs, kSizes));
  EXPECT_EQ(across.text.at("A_IN_PLACE"), "0") << "its rows have to be computed";
  EXPECT_EQ(across.text.at("B_IN_PLACE"), "0") << "its columns are neighbours along k";
  const TemplateValues turned = fill(matmul_family(), whole("transpose(matmul(p, q), [1, 0])", inputs, kSizes));
  EXPECT_EQ(turned.text.at("Y_IN_ORDER"), "0");
}

TEST(MatmulFamily, AnOperandWithAPrologueIsLoadedByAHook) {
  const Whole w = whole("matmul(exp(p), q)", {typed("p", "f32[m, k]"), typed("q", "f32[k, n]")}, kSizes);
  const TemplateValues values = fill(matmul_family(), w);
  EXPECT_EQ(values.text.at("A_DIRECT"), "0");
  EXPECT_EQ(values.text.at("B_DIRECT"), "1");
}

TEST(Epilogue, KeepsLayoutsThatKeepEveryElement) {
  const std::vector<ir::TensorType> inputs{typed("p", "f32[m, k]"), typed("q", "f32[k, n]")};
  for (const char* text :
       {"relu(matmul(p, q))", "transpose(matmul(p, q) + 1, [1, 0])", "reshape(exp(matmul(p, q)), [m * n])"})
    EXPECT_TRUE(matmul_family().fits(whole(text, inputs, kSizes).plan, whole(text, inputs, kSizes).group())) << text;
  for (const char* text :
       {"matmul(p, q)[1:]", "flip(matmul(p, q), 0)", "matmul(p, q) + reshape(transpose(matmul(p, q), [1, 0]), [m, n])"})
    EXPECT_FALSE(matmul_family().fits(whole(text, inputs, kSizes).plan, whole(text, inputs, kSizes).group())) << text;
}

TEST(Epilogue, KnowsWhetherTheOrderStays) {
  const std::vector<ir::TensorType> inputs{typed("p", "f32[m, k]"), typed("q", "f32[k, n]")};
  const Whole same = whole("reshape(matmul(p, q), [m * n]) * 2", inputs, kSizes);
  const Whole turned = whole("transpose(matmul(p, q), [1, 0])", inputs, kSizes);
  EXPECT_TRUE(keeps_order(*layout_steps(same.plan.graph, same.group(), same.anchor())));
  EXPECT_FALSE(keeps_order(*layout_steps(turned.plan.graph, turned.group(), turned.anchor())));
}

TEST(ConvFamily, AWindowOfATransposedConvolutionReachesAsFarAsItsTaps) {
  const Whole w = whole("conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)",
                        {typed("x", "f32[b, 3, m, n]"), typed("w", "f32[3, 4, 3, 5]")}, kSizes);
  ASSERT_TRUE(conv_family().fits(w.plan, w.group()));
  const TemplateValues values = fill(conv_family(), w);
  EXPECT_EQ(values.text.at("STRICT"), "1");
  EXPECT_EQ(values.extents.at("OS_H"), "(2)");
  EXPECT_EQ(values.extents.at("IS_H"), "(1)");
  // Rows: output o takes inputs (o + 1 - tap) / 2 with taps 0..2, so from o / 2 to o / 2 + 1.
  EXPECT_EQ(values.extents.at("DOWN_H"), "(0)");
  EXPECT_EQ(values.extents.at("HALO_H"), "(1)");
  EXPECT_EQ(values.extents.at("DOWN_W"), "(1)");
  EXPECT_EQ(values.extents.at("HALO_W"), "(2)");
  EXPECT_EQ(values.extents.at("KD"), "(1)");
}

TEST(ConvFamily, KnowsDepthwise) {
  const Whole w = whole("conv2d(x, w, padding=1, groups=6)",
                        {typed("x", "f32[b, 6, m, n]"), typed("w", "f32[6, 1, 3, 3]")}, kSizes);
  const TemplateValues values = fill(conv_family(), w);
  EXPECT_EQ(values.text.at("DEPTHWISE"), "1");
  EXPECT_EQ(values.text.at("STRICT"), "0");
}

TEST(PoolFamily, TakesTheAxesBeforeTheWindowsAsPlanes) {
  const Whole w = whole("max_pool2d(x, 3, stride=2, padding=1)", {typed("x", "f32[b, k, m, n]")}, kSizes);
  ASSERT_TRUE(pool_family().fits(w.plan, w.group()));
  const TemplateValues values = fill(pool_family(), w);
  EXPECT_EQ(values.extents.at("PLANES"), "(" + (Dim::symbol("b") * Dim::symbol("k")).to_string() + ")");
  EXPECT_EQ(values.text.at("MAX"), "1");
  EXPECT_EQ(values.text.at("X_DIRECT"), "1");
}

TEST(AttentionFamily, RecognisesTheStructureHoweverItWasWritten) {
  const std::vector<ir::TensorType> inputs{typed("q", "f32[b, m, k]"), typed("c", "f32[b, s, k]"),
                                           typed("v", "f32[b, s, n]")};
  const Whole called = whole("attention(q, c, v)", inputs, kSizes);
  ASSERT_TRUE(attention_family().fits(called.plan, called.group()));
  EXPECT_EQ(fill(attention_family(), called).text.at("CAUSAL"), "0");
  const Whole written =
      whole("2 * matmul(softmax(tanh(matmul(q, transpose(c, [0, 2, 1]))), axis=-1), v)", inputs, kSizes);
  EXPECT_TRUE(attention_family().fits(written.plan, written.group()));
  const Whole other = whole("matmul(softmax(matmul(q, transpose(c, [0, 2, 1])), axis=1), v)", inputs, kSizes);
  EXPECT_FALSE(attention_family().fits(other.plan, other.group())) << "the softmax runs over the queries";
}

TEST(AttentionFamily, SkipsKeysOnlyWhereTheMaskIsKnownToBeCausal) {
  const std::vector<ir::TensorType> inputs{typed("q", "f32[b, m, k]"), typed("c", "f32[b, m, k]"),
                                           typed("v", "f32[b, m, n]"), typed("keep", "bool[m, m]")};
  const std::vector<ir::TensorType> three(inputs.begin(), inputs.end() - 1);
  EXPECT_EQ(fill(attention_family(), whole("attention(q, c, v, causal=true)", three, kSizes)).text.at("CAUSAL"), "1");
  EXPECT_EQ(fill(attention_family(), whole("attention(q, c, v, mask=keep)", inputs, kSizes)).text.at("CAUSAL"), "0");
}

}  // namespace
}  // namespace kerf::synth
