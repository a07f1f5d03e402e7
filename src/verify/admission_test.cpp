#include "verify/admission.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ir/expression/expression.hpp"

namespace kerf {
namespace {

Task task_of(const std::string& expression, const std::vector<std::pair<std::string, std::string>>& inputs) {
  Task task;
  task.name = "t";
  task.shapes = {{"small", {{"n", 16}, {"m", 12}}, 1, {}}};
  for (const auto& [name, type] : inputs) task.inputs.push_back(*ir::parse_tensor_type(name, type));
  task.distributions.resize(task.inputs.size());
  auto graph = ir::parse_expression(expression, task.inputs, {"y"}, {task.shapes[0].symbols});
  EXPECT_TRUE(graph) << graph.error().message;
  task.graph = *graph;
  const ir::Node& out = (*graph)[graph->outputs[0].node];
  task.outputs = {{"y", out.dtype, out.shape}};
  return task;
}

Admission admission_of(const Task& task) {
  const auto reference = oracle::make_graph_reference(task);
  EXPECT_TRUE(reference) << reference.error().message;
  const auto result = admit(task, **reference);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

TEST(Admission, TakesOrdinaryTasks) {
  for (const char* text :
       {"y = x * 2 + 1", "y = softmax(x)", "y = sum(x, axis=1)", "y = argmax(x, axis=1)", "y = x.T", "y = x[:, ::2]"}) {
    const Admission admission = admission_of(task_of(text, {{"x", "f32[n, m]"}}));
    EXPECT_TRUE(admission.admitted) << text << ": " << admission.reason;
    EXPECT_GE(admission.tried.size(), 4U);
  }
}

TEST(Admission, InputsStoredCoarserThanTheClassAreExact) {
  // At f32 accuracy: what is lost is lost in the sums, not in the stored numbers.
  for (const auto& [a, b] : {std::pair{"bf16", "bf16"}, std::pair{"f16", "f16"}, std::pair{"bf16", "f32"}}) {
    const Admission admission =
        admission_of(task_of("y = x @ w", {{"x", fmt::format("{}[n, 64]", a)}, {"w", fmt::format("{}[64, m]", b)}}));
    EXPECT_TRUE(admission.admitted) << a << " and " << b << ": " << admission.reason;
    EXPECT_TRUE(admission.notes.empty());
  }
}

TEST(Admission, RefusesOutputsThatAreConstant) {
  EXPECT_FALSE(admission_of(task_of("y = x * 0", {{"x", "f32[n, m]"}})).admitted);
  EXPECT_FALSE(
      admission_of(task_of("y = softmax(sum(x, axis=1, keepdims=true), axis=1) + 2", {{"x", "f32[n, m]"}})).admitted);
}

TEST(Admission, TakesDeepTasksWhoseWorstCaseBoundExceedsTheValues) {
  Task task = task_of("a = x @ w; b = a @ w; c = b @ w; d = c @ w; e = d @ w; f = e @ w; g = f @ w; y = g @ w",
                      {{"x", "f32[n, 96]"}, {"w", "f32[96, 96]"}});
  const Admission admission = admission_of(task);
  EXPECT_TRUE(admission.admitted) << admission.reason;
}

TEST(Admission, LooksAtTimedShapesToo) {
  Task task = task_of("y = floor(x / m)", {{"x", "f32[n, 8]"}});
  task.distributions[0] = InputDistribution{};
  task.distributions[0]->kind = InputDistribution::Kind::uniform;
  task.distributions[0]->a = 1;
  task.distributions[0]->b = 100;
  EXPECT_TRUE(admission_of(task).admitted);
  task.shapes.push_back({"large", {{"n", 64}, {"m", 1000}}, 1, {}});
  const Admission admission = admission_of(task);
  EXPECT_FALSE(admission.admitted);
  EXPECT_NE(admission.reason.find("on shape 'large'"), std::string::npos) << admission.reason;
}

TEST(Admission, RefusesTheIdentity) {
  const Admission admission = admission_of(task_of("y = x + 0", {{"x", "f32[n, m]"}}));
  EXPECT_FALSE(admission.admitted);
  EXPECT_NE(admission.reason.find("copy of input x"), std::string::npos) << admission.reason;
}

TEST(Admission, RefusesAnInputThatDoesNotMatter) {
  const Admission admission = admission_of(task_of("y = exp(x) + 0 * z", {{"x", "f32[n, m]"}, {"z", "f32[n, m]"}}));
  EXPECT_FALSE(admission.admitted);
  EXPECT_NE(admission.reason.find("input z"), std::string::npos) << admission.reason;
}

TEST(Admission, MinorInputsOfDeepNetworksAreNoted) {
  std::string text = "h0 = x";
  for (int i = 0; i < 9; ++i) text += fmt::format("; h{} = relu(h{} @ w)", i + 1, i);
  const std::vector<std::pair<std::string, std::string>> inputs{
      {"x", "f32[n, 96]"}, {"w", "f32[96, 96]"}, {"b", "f32[96]"}};
  Task task = task_of(text + "; y = h9 @ w + b * 1e-4", inputs);
  task.id = "minor";
  const Admission admission = admission_of(task);
  EXPECT_TRUE(admission.admitted) << admission.reason;
  ASSERT_EQ(admission.notes.size(), 2U);
  EXPECT_NE(admission.notes[0].find("such as b"), std::string::npos) << admission.notes[0];
  // A matrix that does not matter is no minor input.
  EXPECT_FALSE(
      admission_of(task_of(text + "; y = h9 @ w + v * 1e-4", {inputs[0], inputs[1], {"v", "f32[n, 96]"}})).admitted);
}

TEST(Admission, FewAnswersRefuseATaskThatTakesLong) {
  class Counting final : public oracle::Reference {
   public:
    explicit Counting(const oracle::Reference& real) : real_(real) {}
    Result<oracle::DataSet> expect(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const override {
      ++answers;
      return real_.expect(shape, std::move(inputs));
    }
    Result<std::vector<ir::HostTensor>> answer(const ShapeSet& shape,
                                               std::vector<ir::HostTensor> inputs) const override {
      ++answers;
      return real_.answer(shape, std::move(inputs));
    }
    mutable int answers = 0;

   private:
    const oracle::Reference& real_;
  };
  const auto answers = [](int width) {
    const std::string square = fmt::format("f32[{}, {}]", width, width);
    const Task task = task_of("y = a @ b + 0 * c", {{"a", square}, {"b", square}, {"c", square}});
    const auto reference = oracle::make_graph_reference(task);
    EXPECT_TRUE(reference);
    const Counting counting(**reference);
    const auto admission = admit(task, counting);
    EXPECT_TRUE(admission && !admission->admitted);
    return counting.answers;
  };
  EXPECT_GE(answers(32), 20 * 4) << "luck is ruled out by many draws where they cost nothing";
  EXPECT_LE(answers(900), 40);
}

// One row holds its largest element in its first half every second time, so a single draw says little.
TEST(Admission, NamesAnInputThatCancelsOut) {
  Task task = task_of("a = x + b; y = (a - mean(a, axis=1, keepdims=true)) * w",
                      {{"x", "f32[n, m]"}, {"b", "f32[n, 1]"}, {"w", "f32[m]"}});
  EXPECT_FALSE(admission_of(task).admitted) << "a NaN in b must come through";
  task.special_values = false;
  const Admission admission = admission_of(task);
  EXPECT_TRUE(admission.admitted) << admission.reason;
  EXPECT_EQ(admission.idle, std::vector<std::string>{"b"});
}

TEST(Admission, RefusesAnInputThatMattersOnlyWhereItIsSmall) {
  Task task = task_of("y = tanh(x) * w", {{"x", "f32[n, m]"}, {"w", "f32[n, m]"}});
  task.distributions[0] = InputDistribution{InputDistribution::Kind::uniform, 50, 60, {}, false};
  task.special_values = false;
  EXPECT_FALSE(admission_of(task).admitted);
}

TEST(Admission, ALuckySubsampleDoesNotRefuseATaskWithFewOutputs) {
  Task task = task_of("y = argmax(x, axis=1)", {{"x", "f32[n, m]"}});
  task.shapes[0].symbols = {{"n", 1}, {"m", 12}};
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    task.id = "task " + std::to_string(seed);  // what is drawn follows from it
    const Admission admission = admission_of(task);
    EXPECT_TRUE(admission.admitted) << task.id << ": " << admission.reason;
  }
}

}  // namespace
}  // namespace kerf
