#include "ir/analysis/algebra.hpp"

#include "ir/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "ir/analysis/cost.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

const Bindings kShape{{"m", 7}, {"n", 5}, {"k", 6}, {"b", 3}, {"c", 4}, {"h", 10}, {"o", 8}};

std::vector<TensorType> inputs() {
  std::vector<TensorType> types;
  const auto add = [&](const char* name, const char* type) { types.push_back(*parse_tensor_type(name, type)); };
  add("A", "f32[m, k]");
  add("B", "f32[k, n]");
  add("Bt", "f32[n, k]");
  add("P", "f32[b, m, k]");
  add("Q", "f32[b, n, k]");
  add("bias", "f32[n]");
  add("rows", "f32[m, 1]");
  add("x", "f32[b, c, h, h]");
  add("w", "f32[o, c, 3, 3]");
  add("wt", "f32[c, o, 3, 3]");
  add("scale", "f32[]");
  add("f", "f32[o]");
  add("wg", "f32[o, 2, 3, 3]");
  add("R", "f32[m, 2*k]");
  return types;
}

Graph parsed(const std::string& text) {
  auto graph = parse_expression(text, inputs(), {}, {kShape});
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  return *std::move(graph);
}

std::vector<HostTensor> random_data(const Graph& graph, Rng rng) {
  std::vector<HostTensor> data;
  for (const auto& input : graph.inputs) {
    HostTensor tensor = make_tensor(DType::f32, *evaluate(graph[input.node].shape, kShape));
    for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.as<float>()[i] = static_cast<float>(rng.normal());
    data.push_back(std::move(tensor));
  }
  return data;
}

void expect_same_values(const Graph& form, const Graph& graph, const std::string& text) {
  for (const int seed : {1, 2, 3}) {
    const auto data = random_data(graph, Rng(static_cast<std::uint64_t>(seed)));
    const auto expected = interpret(graph, data, kShape), actual = interpret(form, data, kShape);
    ASSERT_TRUE(expected) << text;
    ASSERT_TRUE(actual) << text << "\n" << to_string(form) << actual.error().message;
    ASSERT_EQ(expected->size(), actual->size());
    for (std::size_t o = 0; o < expected->size(); ++o) {
      ASSERT_EQ((*expected)[o].shape, (*actual)[o].shape) << text << "\n" << to_string(form);
      for (std::int64_t i = 0; i < (*expected)[o].elements(); ++i) {
        const double e = load_element((*expected)[o].dtype, (*expected)[o].bytes.data(), static_cast<std::size_t>(i));
        const double a = load_element((*actual)[o].dtype, (*actual)[o].bytes.data(), static_cast<std::size_t>(i));
        ASSERT_NEAR(a, e, 1e-9 * std::max(1.0, std::fabs(e))) << text << " [" << i << "]\n" << to_string(form);
      }
    }
  }
}

struct Work {
  double fma = 0, other = 0;
};
Work work(const Graph& graph) {
  const auto c = cost(graph, kShape);
  return {c->fma_flops, c->other_flops};
}

template <class Attr>
std::size_t count_of(const Graph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return is<Attr>(node); }));
}

/// All forms, each checked against the first on random data.
std::vector<Graph> forms_of(const std::string& text) {
  const Graph graph = parsed(text);
  auto forms = algebraic_forms(graph, Values::finite);
  EXPECT_EQ(to_string(forms.front()), to_string(simplify(graph)));
  for (std::size_t f = 0; f < forms.size(); ++f) {
    EXPECT_EQ(forms[f].inputs.size(), graph.inputs.size());
    expect_same_values(forms[f], graph, text);
    for (std::size_t g = 0; g < f; ++g) EXPECT_NE(to_string(forms[f]), to_string(forms[g])) << text;
  }
  return forms;
}

TEST(AlgebraicForms, AGraphThatAllowsNothingHasOneForm) {
  EXPECT_EQ(forms_of("y = exp(A) * 2").size(), 1U);
  EXPECT_EQ(forms_of("y = sum(A * A, axis=-1, keepdims=true)").size(), 1U);
  EXPECT_EQ(forms_of("y = matmul(A, B) + bias").size(), 1U);
}

TEST(AlgebraicForms, TransposesBecomeLabelsOfTheContraction) {
  for (const char* text : {"y = matmul(A, transpose(Bt, [1, 0]))", "y = matmul(P, transpose(Q, [0, 2, 1]))",
                           "y = transpose(matmul(P, transpose(Q, [0, 2, 1])), [0, 2, 1])",
                           "y = transpose(matmul(transpose(transpose(A, [1, 0]), [1, 0]), B), [1, 0])"}) {
    const auto forms = forms_of(text);
    ASSERT_GE(forms.size(), 2U) << text;
    EXPECT_EQ(count_of<ViewAttr>(forms[1]), 0U) << to_string(forms[1]);
    EXPECT_EQ(count_of<ContractAttr>(forms[1]), 1U);
  }
}

TEST(AlgebraicForms, ReductionsReachThroughTransposesAndMerge) {
  const auto moved = forms_of("y = max(transpose(P, [2, 0, 1]), axis=0)");
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_EQ(count_of<ViewAttr>(moved[1]), 0U) << to_string(moved[1]);
  EXPECT_EQ(count_of<ViewAttr>(forms_of("y = max(transpose(P, [2, 1, 0]), axis=0)").back()), 1U)
      << "the result is turned";
  const auto merged = forms_of("y = max(max(P, axis=1), axis=1)");
  EXPECT_EQ(count_of<ReduceAttr>(merged.back()), 1U) << to_string(merged.back());
  forms_of("y = argmax(transpose(A, [1, 0]), axis=0)");
}

TEST(AlgebraicForms, TheSumOfAMatrixProductIsAProductWithAVector) {
  for (const char* text :
       {"y = sum(matmul(A, B), axis=1)", "y = mean(matmul(A, B), axis=0)", "y = sum(matmul(A, B))",
        "y = mean(matmul(P, transpose(Q, [0, 2, 1])), axis=[0, 2])",
        "y = sum(matmul(A, B) + bias, axis=1, keepdims=true)", "y = mean(2 * matmul(A, B) - bias, axis=0)",
        "y = sum(matmul(A, B) / rows, axis=1)", "y = sum(reshape(matmul(P, transpose(Q, [0, 2, 1])), [b*m*n]))",
        "y = sum(-matmul(A, B) * rows + bias, axis=1)"}) {
    const auto forms = forms_of(text);
    ASSERT_GE(forms.size(), 2U) << text;
    EXPECT_LT(work(forms.back()).fma, 0.5 * work(forms.front()).fma) << text << "\n" << to_string(forms.back());
  }
}

TEST(AlgebraicForms, AProductThatIsNeededForItselfStays) {
  for (const char* text : {"p = matmul(A, B)\ny = p - mean(p, axis=1, keepdims=true)",
                           "y = sum(exp(matmul(A, B)), axis=1)", "p = matmul(A, B)\ny = sum(p * p)"}) {
    for (const Graph& form : forms_of(text))
      EXPECT_EQ(work(form).fma, 2 * 7 * 5 * 6) << text << "\n" << to_string(form);
  }
}

TEST(AlgebraicForms, FactorsLeaveSumsAndExtremes) {
  for (const char* text : {"y = sum(3 * A, axis=1)", "y = sum(A * scale / 7, axis=0)", "y = sum(rows * A, axis=1)",
                           "y = max(2 * A + rows, axis=1)", "y = max(A * -0.5, axis=0)", "y = min(rows - A, axis=1)",
                           "y = max(-A, axis=1)", "y = sum(A + rows, axis=1)", "y = sum(rows - A, axis=1)"}) {
    const auto forms = forms_of(text);
    ASSERT_EQ(forms.size(), 2U) << text;
    EXPECT_LE(work(forms[1]).other, work(forms[0]).other - 20) << text << "\n" << to_string(forms[1]);
  }
  const auto product = forms_of("y = matmul(A * 0.125, -B / scale)");
  const Graph& last = product.back();
  const Node& contraction =
      *std::find_if(last.nodes.begin(), last.nodes.end(), [](const Node& n) { return is<ContractAttr>(n); });
  EXPECT_TRUE(is<InputAttr>(last[contraction.args[0]]) && is<InputAttr>(last[contraction.args[1]])) << to_string(last);
}

TEST(AlgebraicForms, SumsOverChannelsAndPositionsOfAConvolutionMoveInside) {
  const double whole = work(parsed("y = conv2d(x, w, padding=1)")).fma;
  for (const char* text :
       {"y = mean(conv2d(x, w, padding=1), axis=[2, 3])", "y = sum(conv2d(x, w, padding=1), axis=1)",
        "y = sum(conv2d(x, w, padding=1), axis=[0, 1], keepdims=true)",
        "y = adaptive_avg_pool2d(conv2d(x, w, padding=1, stride=2) + reshape(f, [1, o, 1, 1]), 1)",
        "y = sum(conv2d(x, w, dilation=2))", "y = mean(conv_transpose2d(x, wt, stride=2), axis=[2, 3])",
        "y = sum(conv_transpose2d(x, wt, stride=2, padding=1), axis=1)"}) {
    const auto forms = forms_of(text);
    ASSERT_GE(forms.size(), 2U) << text;
    EXPECT_LT(work(forms.back()).fma, 0.5 * whole) << text << "\n" << to_string(forms.back());
  }
  EXPECT_EQ(work(forms_of("y = mean(conv_transpose2d(x, wt, stride=2, padding=1), axis=[2, 3])").back()).fma,
            work(parsed("y = conv_transpose2d(x, wt, stride=2, padding=1)")).fma)
      << "cropping differs from tap to tap";
  forms_of("y = mean(conv2d(x, wg, groups=2), axis=[2, 3])");
  forms_of("y = sum(conv2d(x, wg, groups=2), axis=0)");
}

TEST(AlgebraicForms, AveragesOfAConvolutionAreAWiderConvolution) {
  for (const char* text :
       {"y = avg_pool2d(conv2d(x, w, padding=1), 2)", "y = avg_pool2d(conv2d(x, w), 3)",
        "y = avg_pool2d(conv2d(x, w, padding=1) * 0.5 + reshape(f, [1, o, 1, 1]), 2)",
        "y = avg_pool2d(conv2d(x, w, stride=2, padding=1), 2)", "y = avg_pool2d(conv2d(x, wg, groups=2), 2)"}) {
    const auto forms = forms_of(text);
    ASSERT_GE(forms.size(), 2U) << text;
    EXPECT_EQ(count_of<PoolAttr>(forms.back()), 0U) << text << "\n" << to_string(forms.back());
    EXPECT_LT(work(forms.back()).fma, work(forms.front()).fma) << text;
  }
  for (const char* text : {"y = avg_pool2d(conv2d(x, w), 3, padding=1)", "y = avg_pool2d(conv2d(x, w), 3, stride=1)",
                           "y = max_pool2d(conv2d(x, w), 2)", "y = avg_pool2d(relu(conv2d(x, w)), 2)"})
    EXPECT_EQ(count_of<PoolAttr>(forms_of(text).back()), 1U) << text;
}

TEST(AlgebraicForms, ViewsComposeAcrossSlicesFlipsAndPadding) {
  const auto both = forms_of("y = transpose(A, [1, 0])[1:4, :][:, 2:6]");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(count_of<ViewAttr>(both.back()), 1U) << to_string(both.back());
  forms_of("y = transpose(pad(transpose(A, [1, 0]), [1, 2, 0, 3]), [1, 0])");
  forms_of("y = roll(transpose(flip(A, 0), [1, 0]), 2, axis=0)");
  forms_of("y = sum(broadcast_to(rows, [m, n]), axis=1)");
  forms_of("y = sum(broadcast_to(reshape(bias, [1, n]), [m, n]), axis=[0, 1])");
}

TEST(AlgebraicForms, KeepTheOrderOfSumsWhenDataMayBeInfinite) {
  Builder builder;
  const NodeId a = builder.input("a", DType::f32, {Dim::symbol("m"), Dim::symbol("k")});
  const NodeId b = builder.input("b", DType::f32, {Dim::symbol("k"), Dim::symbol("n")});
  builder.output("y", *builder.reduce(ReduceOp::sum, *builder.matmul(a, b), {1}, false));
  const Graph graph = builder.take();
  EXPECT_EQ(algebraic_forms(graph, Values::any).size(), 1u);
  EXPECT_EQ(algebraic_forms(graph, Values::finite).size(), 3u) << "a product with a vector, and that as a sum";
}

TEST(Algebra, ElementwiseWorkMovesInsideOfConcatenations) {
  const std::string text =
      "half = cat([-R[:, k:], R[:, :k]], axis=1)\nd = cat([A, A], axis=1)\ny = R * d + half * rows";
  const Graph graph = parsed(text);
  const auto forms = algebraic_forms(graph, Values::any);
  const Graph& last = forms.back();
  EXPECT_TRUE(is<ConcatAttr>(last[last.outputs[0].node]));
  EXPECT_EQ(std::count_if(last.nodes.begin(), last.nodes.end(), [](const Node& n) { return is<ConcatAttr>(n); }), 1);
  for (const Graph& form : forms) expect_same_values(form, graph, text);
  // What is reduced over its pieces stays one tensor.
  const auto reduced =
      algebraic_forms(parsed("a = cat([A, A], axis=1)\ny = a - mean(a, axis=1, keepdims=true)"), Values::any);
  EXPECT_FALSE(is<ConcatAttr>(reduced.back()[reduced.back().outputs[0].node]));
}

}  // namespace
}  // namespace kerf::ir
