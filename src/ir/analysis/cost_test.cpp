#include "ir/analysis/cost.hpp"

#include <gtest/gtest.h>

#include "ir/expression/expression.hpp"

namespace kerf::ir {
namespace {

Cost cost_of(const std::string& expression, const std::vector<std::pair<std::string, std::string>>& inputs,
             const Bindings& symbols = {}) {
  std::vector<TensorType> types;
  for (const auto& [name, type] : inputs) types.push_back(*parse_tensor_type(name, type));
  const auto graph = parse_expression(expression, types, {"y"}, {symbols});
  EXPECT_TRUE(graph) << graph.error().message;
  const auto result = cost(*graph, symbols);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

TEST(Cost, OfElementwiseIsOneOperationAndTwoMovesAnElement) {
  const Cost cost = cost_of("y = x * 2 + 1", {{"x", "f32[n, 3]"}}, {{"n", 10}});
  EXPECT_EQ(cost.bytes_read, 120);
  EXPECT_EQ(cost.bytes_written, 120);
  EXPECT_EQ(cost.other_flops, 60);
  EXPECT_EQ(cost.special_ops, 0);
  EXPECT_EQ(cost.fma_flops, 0);
}

TEST(Cost, CountsSmallOperandsOnceAndInTheirOwnType) {
  const Cost cost = cost_of("y = x + exp(b)", {{"x", "f16[8, 4]"}, {"b", "f16[4]"}});
  EXPECT_EQ(cost.bytes_read, 2 * 32 + 2 * 4);
  EXPECT_EQ(cost.bytes_written, 64);
  EXPECT_EQ(cost.special_ops, 4);
  EXPECT_EQ(cost.other_flops, 32);
}

TEST(Cost, OfAProductIsTwoFlopsAStep) {
  const Cost cost = cost_of("y = a @ b", {{"a", "f32[m, k]"}, {"b", "f32[k, n]"}}, {{"m", 3}, {"k", 5}, {"n", 7}});
  EXPECT_EQ(cost.fma_flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 35));
  EXPECT_FALSE(cost.fma_avoidable);
}

TEST(Cost, OfASliceIsWhatItTouches) {
  EXPECT_EQ(cost_of("y = x[2:5, ::2]", {{"x", "f32[10, 9]"}}).bytes_read, 4 * 3 * 5);
  EXPECT_EQ(cost_of("y = x[0] + x[3]", {{"x", "f32[10, 9]"}}).bytes_read, 4 * 2 * 9);
  EXPECT_EQ(cost_of("y = concat([x[:4], x[4:]], 0)", {{"x", "f32[10, 9]"}}).bytes_read, 4 * 90);
  EXPECT_EQ(cost_of("y = trace(x)", {{"x", "f32[10, 10]"}}).bytes_read, 4 * 10);
  EXPECT_EQ(cost_of("y = pad(x[:2], [1, 1])", {{"x", "f32[4, 3]"}}).bytes_read, 4 * 6);
  EXPECT_EQ(cost_of("y = (a @ b)[:2]", {{"a", "f32[6, 5]"}, {"b", "f32[5, 7]"}}).fma_flops, 2 * 2 * 5 * 7);
  EXPECT_EQ(cost_of("y = cumsum(x, axis=0)[3]", {{"x", "f32[10, 9]"}}).bytes_read, 4 * 4 * 9);
}

TEST(Cost, LeavesOutDeadCode) {
  const Cost cost = cost_of("z = exp(w) @ x; y = x + 1", {{"x", "f32[4, 4]"}, {"w", "f32[4, 4]"}});
  EXPECT_EQ(cost.bytes_read, 64);
  EXPECT_EQ(cost.fma_flops, 0);
  EXPECT_EQ(cost.special_ops, 0);
}

TEST(Cost, OfAConvolutionLeavesOutPadding) {
  // 5 wide, kernel 3, padding 1: 13 of the 15 taps of a row meet the input.
  const Cost cost = cost_of("y = conv2d(x, w, padding=1)", {{"x", "f32[2, 4, 5, 5]"}, {"w", "f32[6, 4, 3, 3]"}});
  EXPECT_EQ(cost.fma_flops, 2.0 * 2 * 6 * 4 * 13 * 13);
  EXPECT_EQ(cost.bytes_read, 4 * (2 * 4 * 25 + 6 * 4 * 9));
  const Cost grouped = cost_of("y = conv2d(x, w, groups=4)", {{"x", "f32[1, 4, 5, 5]"}, {"w", "f32[4, 1, 3, 3]"}});
  EXPECT_EQ(grouped.fma_flops, 2 * 4 * 9 * 9);
  // Stride 2 and kernel 1 read every other row and column.
  const Cost sparse = cost_of("y = conv2d(x, w, stride=2)", {{"x", "f32[1, 4, 5, 5]"}, {"w", "f32[3, 4, 1, 1]"}});
  EXPECT_EQ(sparse.bytes_read, 4 * (4 * 9 + 12));
}

TEST(Cost, OfATransposedConvolutionCountsEachTapOfEachInput) {
  const Cost cost =
      cost_of("y = conv_transpose2d(x, w, stride=2)", {{"x", "f32[1, 3, 4, 4]"}, {"w", "f32[3, 2, 3, 3]"}});
  EXPECT_EQ(cost.fma_flops, 2 * 3 * 2 * 16 * 9);
}

TEST(Cost, OfReductionsIsOneLessThanTheirTerms) {
  EXPECT_EQ(cost_of("y = sum(x, axis=1)", {{"x", "f32[4, 9]"}}).other_flops, 4 * 8);
  EXPECT_EQ(cost_of("y = max_pool2d(x, 2)", {{"x", "f32[1, 1, 4, 4]"}}).other_flops, 4 * 3);
  EXPECT_EQ(cost_of("y = cumsum(x, axis=1)", {{"x", "f32[4, 9]"}}).other_flops, 4 * 8);
}

TEST(Cost, KnowsThatSumsOfProductsCanBeRearranged) {
  const std::vector<std::pair<std::string, std::string>> inputs{
      {"a", "f32[8, 8]"}, {"b", "f32[8, 8]"}, {"c", "f32[8, 8]"}};
  EXPECT_TRUE(cost_of("y = sum(a @ b, axis=1)", inputs).fma_avoidable);
  EXPECT_TRUE(cost_of("y = mean((a @ b) * 2 + 1, axis=0)", inputs).fma_avoidable);
  EXPECT_TRUE(cost_of("y = a @ b @ c", inputs).fma_avoidable);
  EXPECT_FALSE(cost_of("y = relu(a @ b) @ c", inputs).fma_avoidable);
  EXPECT_FALSE(cost_of("y = sum(relu(a @ b), axis=1)", inputs).fma_avoidable);
  EXPECT_FALSE(cost_of("y = max(a @ b, axis=1)", inputs).fma_avoidable);
  // The mean alone could be had cheaply, but every element is needed as well.
  EXPECT_FALSE(cost_of("z = a @ b; y = z - mean(z, axis=1, keepdims=true)", inputs).fma_avoidable);
}

TEST(Cost, LeavesOutWhatMasksRemove) {
  const Cost lower = cost_of("y = tril(a) @ b", {{"a", "f32[8, 8]"}, {"b", "f32[8, 3]"}});
  EXPECT_EQ(lower.fma_flops, 2 * 36 * 3);
  EXPECT_EQ(lower.bytes_read, 4 * (36 + 24));
  EXPECT_EQ(cost_of("y = triu(a @ b)", {{"a", "f32[8, 4]"}, {"b", "f32[4, 8]"}}).fma_flops, 2 * 36 * 4);
  const std::vector<std::pair<std::string, std::string>> heads{
      {"q", "f32[2, 16, 8]"}, {"k", "f32[2, 16, 8]"}, {"v", "f32[2, 16, 8]"}};
  const Cost full = cost_of("y = attention(q, k, v)", heads);
  const Cost causal = cost_of("y = attention(q, k, v, causal=true)", heads);
  EXPECT_EQ(full.fma_flops, 2.0 * 2 * 2 * 16 * 16 * 8);
  EXPECT_EQ(causal.fma_flops, full.fma_flops * 136 / 256);
  EXPECT_EQ(causal.bytes_read, full.bytes_read);
  EXPECT_EQ(causal.special_ops - 2 * 136 * 2, full.special_ops - 2 * 256 * 2);
}

TEST(Cost, OfEmptyTensorsIsNothing) {
  const Cost cost = cost_of("y = x @ w", {{"x", "f32[n, 4]"}, {"w", "f32[4, 4]"}}, {{"n", 0}});
  EXPECT_EQ(cost.fma_flops, 0);
  EXPECT_EQ(cost.bytes_written, 0);
}

}  // namespace
}  // namespace kerf::ir
