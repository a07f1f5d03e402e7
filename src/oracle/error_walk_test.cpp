#include "oracle/error_walk.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ir/expression/expression.hpp"
#include "oracle/reference.hpp"

namespace kerf::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Task task_of(const std::string& expression, const std::vector<std::pair<std::string, std::string>>& inputs) {
  Task task;
  task.name = task.id = "t";
  task.shapes = {{"small", {}, 1, {}}};
  for (const auto& [name, type] : inputs) task.inputs.push_back(*ir::parse_tensor_type(name, type));
  task.distributions.resize(task.inputs.size());
  auto graph = ir::parse_expression(expression, task.inputs, {"y"}, {Bindings{}});
  EXPECT_TRUE(graph) << graph.error().message;
  task.graph = *graph;
  const ir::Node& out = (*graph)[graph->outputs[0].node];
  task.outputs = {{"y", out.dtype, out.shape}};
  return task;
}

/// h = relu(x @ w) and so on, `layers` times.
std::string layers(int count) {
  std::string text = "h0 = x";
  for (int i = 0; i < count; ++i) text += "; h" + std::to_string(i + 1) + " = relu(h" + std::to_string(i) + " @ w)";
  return text + "; ";
}
const std::vector<std::pair<std::string, std::string>> kInputs{{"x", "f32[8, 96]"}, {"w", "f32[96, 96]"}};

bool walks(const Task& task) {
  const auto reference = make_graph_reference(task);
  EXPECT_TRUE(reference) << reference.error().message;
  return (*reference)->errors_walk();
}

TEST(SummingDepth, IsTheLongestChainOfSums) {
  const auto depth = [](const std::string& text) { return summing_depth(*task_of(text, kInputs).graph); };
  EXPECT_EQ(depth("y = exp(x) + 1"), 0);
  EXPECT_EQ(depth("y = max(x)"), 0);
  EXPECT_EQ(depth("y = x @ w"), 1);
  EXPECT_EQ(depth("y = sum(cumsum(x @ w, axis=0))"), 3);
  EXPECT_EQ(depth(layers(9) + "y = h9"), 9);
}

TEST(SilentOutputs, AreThoseWhoseValuesAreWithinTheirBounds) {
  const Task task = task_of("y = x * 2", {{"x", "f32[4]"}});
  DataSet data;
  data.expected = {ir::make_tensor(DType::f64, {4})};
  data.bound = {ir::make_tensor(DType::f64, {4})};
  const auto silent = [&](const std::vector<double>& values, const std::vector<double>& bounds) -> bool {
    std::copy(values.begin(), values.end(), data.expected[0].as<double>());
    std::copy(bounds.begin(), bounds.end(), data.bound[0].as<double>());
    return silent_outputs(task, data)[0];
  };
  EXPECT_FALSE(silent({1, -1, 1, 0}, {0.1, 0.1, 0.1, 0.1})) << "0 is small beside the others, not its bound";
  EXPECT_TRUE(silent({1, -1, 1, 0}, {2, 2, kInfinity, 0.1}));
  EXPECT_FALSE(silent({1, -1, 1, 0}, {2, kInfinity, 0.1, 0.1})) << "half of them";
  EXPECT_FALSE(silent({kInfinity, kInfinity, kInfinity, 1}, {9, 9, 9, 0.1})) << "only numbers count";
}

TEST(ErrorsWalk, WhereTheWorstCaseSaysNothingForReasonsOfDepth) {
  EXPECT_FALSE(walks(task_of("y = x @ w", kInputs)));
  EXPECT_FALSE(walks(task_of(layers(2) + "y = h2", kInputs)));
  EXPECT_TRUE(walks(task_of(layers(9) + "y = h9", kInputs)));
}

TEST(ErrorsWalk, NotWhereJumpsAreTheReason) {
  // Every multiple of 2^-40 is next to a jump in f32, however errors add up.
  EXPECT_FALSE(walks(task_of(layers(5) + "y = floor(h5 * 1e12)", kInputs)));
  EXPECT_FALSE(walks(task_of(layers(5) + "y = i32(h5 * 1e5) % 2", kInputs)));
}

TEST(ErrorsWalk, LeavesOutOnlyWhatIsNextToAJump) {
  const Task task = task_of(layers(9) + "y = h9 > 1e6", kInputs);
  const auto reference = make_graph_reference(task);
  ASSERT_TRUE(reference && (*reference)->errors_walk());
  const auto data = make_data(task, **reference, task.shapes[0], {Pattern::normal, 1});
  ASSERT_TRUE(data);
  EXPECT_FALSE(silent_outputs(task, *data)[0]);
}

TEST(Reference, AnswersAreTheExpectedValues) {
  for (const int depth : {2, 9}) {
    const Task task = task_of(layers(depth) + "y = sum(h" + std::to_string(depth) + ", axis=1)", kInputs);
    const auto reference = make_graph_reference(task);
    ASSERT_TRUE(reference);
    const auto data = make_data(task, **reference, task.shapes[0], {Pattern::normal, 1});
    ASSERT_TRUE(data);
    const auto answer = (*reference)->answer(task.shapes[0], data->inputs);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->at(0).bytes, data->expected[0].bytes);
  }
}

}  // namespace
}  // namespace kerf::oracle
