#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "ir/analysis/algebra.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

constexpr std::int64_t kTilesWanted = 264;

struct Forms {
  Graph graph;
  Graph last;
  std::size_t count = 0;
};

/// The last form of an expression over inputs of literal extents, checked against the graph on random data.
Forms last_form(const std::string& text, const std::vector<std::pair<std::string, std::string>>& inputs,
                std::int64_t tiles = kTilesWanted) {
  std::vector<TensorType> types;
  for (const auto& [name, type] : inputs) types.push_back(*parse_tensor_type(name, type));
  const auto graph = parse_expression(text, types, {"y"}, {Bindings{}});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  if (!graph) return {};
  const auto forms = algebraic_forms(*graph, Values::any, tiles);
  Rng rng(5);
  std::vector<HostTensor> data;
  for (const auto& input : graph->inputs) {
    HostTensor tensor = make_tensor(DType::f32, *evaluate((*graph)[input.node].shape, {}));
    for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.as<float>()[i] = static_cast<float>(rng.normal());
    data.push_back(std::move(tensor));
  }
  const auto expected = interpret(*graph, data, {}), actual = interpret(forms.back(), data, {});
  EXPECT_TRUE(expected && actual) << to_string(forms.back());
  if (!expected || !actual) return {*graph, forms.back(), forms.size()};
  EXPECT_EQ((*expected)[0].shape, (*actual)[0].shape) << to_string(forms.back());
  for (std::int64_t i = 0; i < (*expected)[0].elements(); ++i) {
    const double e = load_element((*expected)[0].dtype, (*expected)[0].bytes.data(), static_cast<std::size_t>(i));
    const double a = load_element((*actual)[0].dtype, (*actual)[0].bytes.data(), static_cast<std::size_t>(i));
    EXPECT_NEAR(a, e, 1e-9 * std::max(1.0, std::fabs(e))) << text << " [" << i << "]\n" << to_string(forms.back());
  }
  return {*graph, forms.back(), forms.size()};
}

template <class Attr>
std::size_t nodes_of(const Graph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return is<Attr>(node); }));
}

TEST(ProductForms, AConvolutionOfSingleTapsIsAContraction) {
  for (const char* text : {"y = conv2d(x, w)", "y = conv_transpose2d(x, v)"}) {
    const auto found =
        last_form(text, {{"x", "f32[2, 16, 5, 4]"}, {"w", "f32[3, 16, 1, 1]"}, {"v", "f32[16, 3, 1, 1]"}});
    EXPECT_EQ(nodes_of<ConvAttr>(found.last), 0U) << to_string(found.last);
    EXPECT_EQ(nodes_of<ContractAttr>(found.last), 1U);
  }
}

TEST(ProductForms, OtherConvolutionsStay) {
  const std::vector<std::pair<std::string, std::string>> inputs{{"x", "f32[2, 16, 5, 4]"},
                                                                {"w", "f32[4, 16, 1, 1]"},
                                                                {"g", "f32[16, 1, 1, 1]"},
                                                                {"few", "f32[2, 3, 5, 4]"},
                                                                {"v", "f32[4, 3, 1, 1]"}};
  for (const char* text : {"y = conv2d(x, w, stride=2)", "y = conv2d(x, w, padding=1)", "y = conv2d(x, g, groups=16)",
                           "y = conv2d(few, v)"})
    EXPECT_EQ(nodes_of<ConvAttr>(last_form(text, inputs).last), 1U) << text;
}

TEST(ProductForms, AProductWithAVectorIsASum) {
  const std::vector<std::pair<std::string, std::string>> inputs{
      {"A", "f32[7, 6]"}, {"v", "f32[6, 1]"}, {"u", "f32[1, 7]"}, {"P", "f32[3, 7, 6]"}, {"q", "f32[3, 6, 1]"}};
  for (const char* text : {"y = matmul(A, v)", "y = matmul(u, A)", "y = matmul(P, q)", "y = matmul(P, v)"}) {
    const auto found = last_form(text, inputs);
    EXPECT_EQ(nodes_of<ContractAttr>(found.last), 0U) << text << "\n" << to_string(found.last);
    EXPECT_EQ(nodes_of<ReduceAttr>(found.last), 1U) << text;
  }
  EXPECT_EQ(nodes_of<ContractAttr>(last_form("y = matmul(A, transpose(A, [1, 0]))", inputs).last), 1U);
}

TEST(ProductForms, AnOuterProductIsNoSum) {
  const auto found = last_form("y = matmul(a, b)", {{"a", "f32[7, 1]"}, {"b", "f32[1, 5]"}});
  EXPECT_EQ(nodes_of<ReduceAttr>(found.last), 0U) << to_string(found.last);
}

TEST(ProductForms, LongSumsOfFewResultsAreCut) {
  const std::vector<std::pair<std::string, std::string>> inputs{{"A", "f32[3, 8192]"},
                                                                {"B", "f32[8192, 5]"},
                                                                {"Bt", "f32[5, 8192]"},
                                                                {"C", "f32[3, 2048]"},
                                                                {"D", "f32[2048, 5]"}};
  for (const char* text : {"y = matmul(A, B) + 1.0", "y = matmul(A, transpose(Bt, [1, 0]))"}) {
    const auto found = last_form(text, inputs);
    EXPECT_EQ(nodes_of<ReduceAttr>(found.last), 1U) << to_string(found.last);
    ASSERT_EQ(nodes_of<ContractAttr>(found.last), 1U);
    for (const Node& node : found.last.nodes)
      if (is<ContractAttr>(node)) {
        EXPECT_EQ(to_string(node.shape), "[8, 3, 5]");
      }
  }
  EXPECT_EQ(nodes_of<ReduceAttr>(last_form("y = matmul(A, B)", inputs, 0).last), 0U) << "nobody asked for tiles";
  EXPECT_EQ(nodes_of<ReduceAttr>(last_form("y = matmul(A, B)", inputs, 2).last), 0U) << "one tile is enough";
  EXPECT_EQ(nodes_of<ReduceAttr>(last_form("y = matmul(C, D)", inputs).last), 0U) << "the sums are short";
}

TEST(PoolForms, PoolingsWhoseWindowsTouchAreOne) {
  const std::vector<std::pair<std::string, std::string>> inputs{{"x", "f32[2, 3, 17, 26]"}};
  for (const char* text : {"y = max_pool2d(max_pool2d(x, 2), 2)", "y = max_pool2d(max_pool2d(x, 2), 3, stride=2)",
                           "y = max_pool2d(max_pool2d(max_pool2d(x, 2), 2), 2)"}) {
    const auto found = last_form(text, inputs);
    EXPECT_EQ(nodes_of<PoolAttr>(found.last), 1U) << text << "\n" << to_string(found.last);
  }
  for (const char* text :
       {"y = max_pool2d(max_pool2d(x, 3, stride=2), 2)", "y = max_pool2d(max_pool2d(x, 2), 2, padding=1)",
        "y = max_pool2d(max_pool2d(x, 2, ceil_mode=true), 2)", "y = max_pool2d(relu(max_pool2d(x, 2)), 2)"})
    EXPECT_EQ(nodes_of<PoolAttr>(last_form(text, inputs).last), 2U) << text;
}

}  // namespace
}  // namespace kerf::ir
