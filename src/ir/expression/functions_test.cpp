// What the functions compute, by the reference interpreter, on values known by hand or by an independent formula.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/test_paths.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Given {
  std::string name;
  std::string type;
  std::vector<double> values;
};

/// Evaluates the last statement. The graph is also simplified, which must not change a bit.
std::vector<double> evaluated(const std::string& text, const std::vector<Given>& given, const Bindings& bindings = {}) {
  std::vector<TensorType> types;
  std::vector<HostTensor> tensors;
  for (const auto& input : given) {
    types.push_back(*parse_tensor_type(input.name, input.type));
    auto tensor = make_tensor(types.back().dtype, *evaluate(types.back().shape, bindings));
    for (std::size_t n = 0; n < input.values.size(); ++n)
      store_element(tensor.dtype, tensor.bytes.data(), n, input.values[n]);
    tensors.push_back(std::move(tensor));
  }
  const auto graph =
      parse_expression(text, types, {}, bindings.empty() ? std::vector<Bindings>{} : std::vector{bindings});
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  const auto result = interpret(*graph, tensors, bindings), simple = interpret(simplify(*graph), tensors, bindings);
  if (!result || !simple) {
    ADD_FAILURE() << text;
    return {};
  }
  EXPECT_EQ((*result)[0].bytes, (*simple)[0].bytes) << text;
  std::vector<double> values;
  for (std::int64_t n = 0; n < (*result)[0].elements(); ++n)
    values.push_back(load_element((*result)[0].dtype, (*result)[0].bytes.data(), static_cast<std::size_t>(n)));
  return values;
}

void expect_values(const std::string& text, const std::vector<Given>& given, const std::vector<double>& expected,
                   const Bindings& bindings = {}) {
  const std::vector<double> actual = evaluated(text, given, bindings);
  ASSERT_EQ(actual.size(), expected.size()) << text;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (std::isnan(expected[n]))
      EXPECT_TRUE(std::isnan(actual[n])) << text << " [" << n << "] = " << actual[n];
    else if (std::isinf(expected[n]))
      EXPECT_EQ(actual[n], expected[n]) << text << " [" << n << "]";
    else
      EXPECT_NEAR(actual[n], expected[n], 1e-9 * (1 + std::fabs(expected[n]))) << text << " [" << n << "]";
  }
}

TEST(Functions, ActivationsHaveTheirTextbookValues) {
  const std::vector<Given> x{{"x", "f32[4]", {-2, -0.5, 0, 3}}};
  expect_values("y = relu(x)", x, {0, 0, 0, 3});
  expect_values("y = leaky_relu(x, 0.1)", x, {-0.2, -0.05, 0, 3});
  expect_values("y = elu(x)", x, {std::expm1(-2), std::expm1(-0.5), 0, 3});
  expect_values("y = hardtanh(x, -1, 2)", x, {-1, -0.5, 0, 2});
  expect_values("y = hardswish(x)", x, {-2 / 6.0, -0.5 * 2.5 / 6, 0, 3});
  expect_values("y = softshrink(x)", x, {-1.5, 0, 0, 2.5});
  expect_values("y = hardshrink(x)", x, {-2, 0, 0, 3});
  expect_values("y = gelu(x)", {{"x", "f32[1]", {1}}}, {0.5 * (1 + std::erf(std::sqrt(0.5)))});
  expect_values("y = softplus(x)", {{"x", "f32[3]", {-1000, 0, 1000}}}, {0, std::log(2.0), 1000});
  expect_values("y = mish(x)", {{"x", "f32[2]", {-1000, 1000}}}, {0, 1000});
}

TEST(Functions, SoftmaxAndLogsumexpSurviveTheExtremes) {
  const std::vector<Given> x{{"x", "f32[4, 2]", {1000, 1000, -kInf, 0, -kInf, -kInf, kInf, 0}}};
  expect_values("y = softmax(x)", x, {0.5, 0.5, 0, 1, kNan, kNan, kNan, kNan});
  expect_values("y = logsumexp(x, 1)", x, {1000 + std::log(2.0), 0, -kInf, kInf});
  expect_values("y = log_softmax(x[:2])", x, {-std::log(2.0), -std::log(2.0), -kInf, 0});
}

TEST(Functions, ReductionsTakeSymbolicExtents) {
  const std::vector<Given> x{{"x", "f32[rows, cols]", {1, 2, 3, 4, 5, 9}}};
  const Bindings bindings{{"rows", 2}, {"cols", 3}};
  expect_values("y = mean(x, 1)", x, {2, 6}, bindings);
  expect_values("y = mean(x)", x, {4}, bindings);
  expect_values("y = var(x, 1)", x, {1, 7}, bindings);
  expect_values("y = var(x, 1, unbiased=false)", x, {2 / 3.0, 14 / 3.0}, bindings);
  expect_values("y = std(x, 0, correction=0)", x, {1.5, 1.5, 3}, bindings);
  expect_values("y = norm(x, inf, axis=0)", x, {4, 5, 9}, bindings);
  expect_values("y = argmax(x, 0) + sum(x > 2, 0)", x, {2, 2, 3}, bindings);
  expect_values("y = cumsum(x, 1, reverse=true, exclusive=true)", x, {5, 3, 0, 14, 9, 0}, bindings);
  expect_values("y = max(x, 2*x - 4)", x, {1, 2, 3, 4, 6, 14}, bindings);
}

TEST(Functions, SymbolsBecomeValuesAlsoWhenNegative) {
  const std::vector<Given> x{{"x", "f32[a, b]", {1, 1, 1, 1, 1, 1}}};
  expect_values("y = sum(x) * (a - b) + a*b/4 - a", x, {-6 + 1.5 - 2}, {{"a", 2}, {"b", 3}});
  expect_values("y = max(x) * (b // 2 + b % 2 - 2*a)", x, {-2}, {{"a", 2}, {"b", 3}});
}

TEST(Functions, NormsStandardise) {
  const std::vector<Given> x{{"x", "f32[2, 4]", {1, 3, 5, 7, 2, 2, 6, 6}}};
  expect_values("y = layer_norm(x, eps=0.0)", x,
                {-3 / std::sqrt(5), -1 / std::sqrt(5), 1 / std::sqrt(5), 3 / std::sqrt(5), -1, -1, 1, 1});
  expect_values("y = group_norm(x, 2, eps=0.0)", x, {-1, 1, -1, 1, kNan, kNan, kNan, kNan});
  expect_values("y = batch_norm(x, eps=0.0)[:, 0]", x, {-1, 1});
  expect_values("y = batch_norm(x, zeros(4), ones(4)*4, ones(4)*2, ones(4), eps=0.0)[0]", x, {2, 4, 6, 8});
  expect_values("y = rms_norm(x, eps=0.0)[1]", x,
                {2 / std::sqrt(20), 2 / std::sqrt(20), 6 / std::sqrt(20), 6 / std::sqrt(20)});
  expect_values("y = l1_normalize(x)[0]", x, {1 / 16.0, 3 / 16.0, 5 / 16.0, 7 / 16.0});
}

TEST(Functions, EinsumAgreesWithTheProductsItNames) {
  const std::vector<Given> ab{{"a", "f32[2, 2]", {1, 2, 3, 4}}, {"b", "f32[2, 2]", {5, 6, 7, 8}}};
  expect_values("y = einsum(\"ij,jk->ik\", a, b) - a @ b", ab, {0, 0, 0, 0});
  expect_values("y = einsum(\"ij,jk\", a, b)", ab, {19, 22, 43, 50});
  expect_values("y = einsum(\"ii\", a)", ab, {5});
  expect_values("y = einsum(\"ij,kj,ik->\", a, b, a)", ab, {1 * 17 + 2 * 23 + 3 * 39 + 4 * 53});
  expect_values("y = einsum(\"...j->...\", a)", ab, {3, 7});
  expect_values("y = einsum(\"ij->ji\", a)", ab, {1, 3, 2, 4});
}

TEST(Functions, ConvolutionsAndPools) {
  const std::vector<Given> x{{"x", "f32[1, 1, 5]", {1, 2, 3, 4, 5}}, {"w", "f32[1, 1, 2]", {10, 1}}};
  const std::vector<Given> grouped{{"x", "f32[1, c, 2]", {1, 2, 3, 4}}, {"w", "f32[c, 1, 2]", {1, 10, 1, 100}}};
  expect_values("y = conv1d(x, w, groups=c)", grouped, {21, 403}, {{"c", 2}});
  expect_values("y = conv_transpose1d(x, w, groups=c)", grouped, {1, 12, 20, 3, 304, 400}, {{"c", 2}});
  expect_values("y = conv1d(x, w)", x, {12, 23, 34, 45});
  expect_values("y = conv1d(x, w, padding=\"same\")", x, {12, 23, 34, 45, 50});
  expect_values("y = conv1d(x, w, stride=2, padding=1, dilation=3)", x, {3, 25});
  expect_values("y = conv_transpose1d(x, w, stride=2)", x, {10, 1, 20, 2, 30, 3, 40, 4, 50, 5});
  expect_values("y = max_pool1d(x, 2, ceil_mode=true)", x, {2, 4, 5});
  expect_values("y = avg_pool1d(x, 2, padding=1)", x, {0.5, 2.5, 4.5});
  expect_values("y = avg_pool1d(x, 2, padding=1, count_include_pad=false)", x, {1, 2.5, 4.5});
  expect_values("y = adaptive_avg_pool1d(x, 2)", x, {2, 4});
  expect_values("y = adaptive_max_pool1d(x, 3)", x, {2, 4, 5});
}

TEST(Functions, CausalAttentionLooksOnlyBack) {
  const std::vector<Given> qkv{{"q", "f32[2, 1]", {0, 0}}, {"k", "f32[2, 1]", {1, 2}}, {"v", "f32[2, 1]", {4, 8}}};
  expect_values("y = attention(q, k, v, causal=true)", qkv, {4, 6});
  expect_values("y = attention(q, k, v, mask=eye(2) > 0)", qkv, {4, 8});
  expect_values("y = attention(k, k, v, scale=0)", qkv, {6, 6});
}

TEST(Functions, LossesReduceAsAsked) {
  const std::vector<Given> x{
      {"x", "f32[2, 3]", {0, 0, 0, 1000, 0, 0}}, {"t", "i64[2]", {1, 0}}, {"z", "f32[2, 3]", {1, 2, 0, 1000, 0, 3}}};
  expect_values("y = cross_entropy(x, t, reduction=\"none\")", x, {std::log(3.0), 0});
  expect_values("y = cross_entropy(x, t)", x, {std::log(3.0) / 2});
  expect_values("y = cross_entropy(x[:1], t[:1], label_smoothing=0.3)", x, {std::log(3.0)});
  expect_values("y = mse_loss(x, z, reduction=\"sum\")", x, {14});
  expect_values("y = smooth_l1_loss(x, z, reduction=\"none\", beta=2)", x, {0.25, 1, 0, 0, 0, 2});
  expect_values("y = huber_loss(x, z, reduction=\"sum\", delta=2)", x, {0.5 + 2 + 4});
  expect_values("y = kl_div(x, zeros(2, 3), reduction=\"batchmean\")", x, {0});
  expect_values("y = bce_with_logits(x, ones(2, 3), reduction=\"none\")[1]", x, {0, std::log(2.0), std::log(2.0)});
}

TEST(Functions, IndicesChooseElements) {
  const std::vector<Given> x{
      {"x", "f32[2, 3]", {1, 2, 3, 4, 5, 6}}, {"i", "i64[2, 1]", {2, 0}}, {"j", "i32[2]", {1, 1}}};
  expect_values("y = gather(x, 1, i)", x, {3, 4});
  expect_values("y = gather(x, i, 1)", x, {3, 4});
  expect_values("y = take(x, j, axis=0)", x, {4, 5, 6, 4, 5, 6});
  expect_values("y = take(x, i)", x, {3, 1});
  expect_values("y = index_select(x, 1, j)", x, {2, 2, 5, 5});
  expect_values("y = embedding(i, x)", x, {0, 0, 0, 1, 2, 3});  // an index outside gives 0
  const std::vector<Given> ties{{"x", "f32[5]", {2, 7, 2, 7, -1}}, {"n", "f32[4]", {1, kNan, 3, -kInf}}};
  expect_values("y = topk(x, 3)[1]", ties, {1, 3, 0});
  expect_values("y = topk(x, 3).values", ties, {7, 7, 2});
  expect_values("y = topk(x, 3, largest=false)[1]", ties, {4, 0, 2});
  expect_values("y = topk(n, 2)[1]", ties, {1, 2});
  expect_values("y = topk(n, 4, largest=false).indices", ties, {3, 0, 2, 1});
}

TEST(Functions, LayoutsMoveElementsWhereTheySay) {
  const std::vector<Given> x{{"x", "f32[2, 3]", {1, 2, 3, 4, 5, 6}}};
  expect_values("y = roll(x, 1, 1)", x, {3, 1, 2, 6, 4, 5});
  expect_values("y = flip(x, 0)", x, {4, 5, 6, 1, 2, 3});
  expect_values("y = pad(x, [1, 0], value=9)", x, {9, 1, 2, 3, 9, 4, 5, 6});
  expect_values("y = tile(x[:, :1], [1, 2])", x, {1, 1, 4, 4});
  expect_values("y = repeat_interleave(x[0], 2, 0)", x, {1, 1, 2, 2, 3, 3});
  expect_values("y = tril(x) + triu(x, 1) - x", x, {0, 0, 0, 0, 0, 0});
  expect_values("y = diag(x[0], -1)[:, 0]", x, {0, 1, 0, 0});
  expect_values("y = diag(x, 1)", x, {2, 6});
  expect_values("y = cat([x.T, x.T * 10], axis=1)[0]", x, {1, 4, 10, 40});
  expect_values("y = one_hot(i64(x[0]), 4)[2]", x, {0, 0, 0, 1});
  expect_values("y = unfold(x[0], 0, 2, 1)", x, {1, 2, 2, 3});
  expect_values("y = arange(7, 0, -3)", x, {7, 4, 1});
}

TEST(Documentation, ListsEveryFunctionAsItIs) {
  std::ifstream file(source_folder() / "docs/expressions.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  ASSERT_FALSE(page.empty());
  for (const auto& function : expression_functions()) {
    const std::string row = "| `" + function.signature + "` | " + function.summary + " |\n";
    EXPECT_NE(page.find(row), std::string::npos) << "docs/expressions.md lacks this line:\n" << row;
  }
  EXPECT_GT(expression_functions().size(), 150U);
}

}  // namespace
}  // namespace kerf::ir
