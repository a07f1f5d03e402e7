#include "ir/analysis/work.hpp"

#include <gtest/gtest.h>

#include "ir/expression/expression.hpp"

namespace kerf::ir {
namespace {

double work(const std::string& expression, const std::vector<std::pair<std::string, std::string>>& inputs) {
  std::vector<TensorType> types;
  for (const auto& [name, type] : inputs) types.push_back(*parse_tensor_type(name, type));
  const auto graph = parse_expression(expression, types, {"y"}, {Bindings{}});
  EXPECT_TRUE(graph) << graph.error().message;
  const auto found = whole_work(*graph, {});
  EXPECT_TRUE(found) << found.error().message;
  return *found;
}

TEST(WholeWork, CountsEveryTermOfProductsAndSums) {
  EXPECT_EQ(work("y = a @ b", {{"a", "f32[3, 50]"}, {"b", "f32[50, 7]"}}), 150 + 350 + 3 * 50 * 7);
  EXPECT_EQ(work("y = sum(x, axis=1)", {{"x", "f32[3, 50]"}}), 150 + 150);
  EXPECT_EQ(work("y = conv2d(x, w)", {{"x", "f32[2, 4, 6, 6]"}, {"w", "f32[5, 4, 3, 3]"}}),
            288 + 180 + 2 * 5 * 4 * 4 * 4 * 9);
  EXPECT_EQ(work("y = conv_transpose2d(x, w)", {{"x", "f32[2, 4, 6, 6]"}, {"w", "f32[4, 5, 3, 3]"}}),
            288 + 180 + 288 * 5 * 9);
}

TEST(WholeWork, CountsWhatNoOutputNeeds) {
  const double all = work("y = a @ b", {{"a", "f32[64, 64]"}, {"b", "f32[64, 64]"}});
  EXPECT_GT(work("c = a @ b; y = c[0, :]", {{"a", "f32[64, 64]"}, {"b", "f32[64, 64]"}}), all);
}

}  // namespace
}  // namespace kerf::ir
