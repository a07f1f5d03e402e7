// Error bounds against real single-precision code: the naive C++ kernels.

#include "ir/analysis/error_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "base/statistics.hpp"
#include "codegen/compiled_cpp.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::codegen {
namespace {

struct Task {
  std::string name;
  std::string expression;
  std::vector<std::pair<std::string, std::string>> inputs;  ///< name, type; "p" inputs are positive, integers 0..9
  Bindings symbols;
};

struct Outcome {
  double worst = 0;            ///< largest |error| / bound
  double rms = 0;              ///< of |error| / bound
  double median_relative = 0;  ///< of bound / |value|
  double skipped = 0;          ///< share of elements with an infinite bound
};

std::vector<ir::HostTensor> draw(const ir::Graph& graph, const Bindings& symbols) {
  std::vector<ir::HostTensor> inputs;
  Rng rng(11);
  for (const auto& input : graph.inputs) {
    const ir::Node& node = graph[input.node];
    inputs.push_back(ir::make_tensor(node.dtype, *evaluate(node.shape, symbols)));
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs.back().elements()); ++i) {
      double value = is_float(node.dtype) ? rng.normal() : static_cast<double>(rng.integer(0, 9));
      if (input.name == "p") value = std::fabs(value) + 0.01;
      store_element(node.dtype, inputs.back().bytes.data(), i, value);
    }
  }
  return inputs;
}

ir::Graph parse(const Task& task) {
  std::vector<ir::TensorType> types;
  for (const auto& [name, type] : task.inputs) {
    const auto parsed = ir::parse_tensor_type(name, type);
    EXPECT_TRUE(parsed) << parsed.error().message;
    types.push_back(*parsed);
  }
  auto graph = ir::parse_expression(task.expression, types, {"y"}, {task.symbols});
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

Outcome measure(const Task& task, const NaiveOptions& options = {}, const ir::ErrorModel& model = {}) {
  const ir::Graph graph = parse(task);
  const auto inputs = draw(graph, task.symbols);
  const auto bounded = ir::with_error_bounds(graph, model, {task.symbols});
  EXPECT_TRUE(bounded) << bounded.error().message;
  const auto expected = ir::interpret(*bounded, inputs, task.symbols);
  EXPECT_TRUE(expected) << expected.error().message;
  const auto actual = run_compiled(graph, inputs, task.symbols, options);
  EXPECT_TRUE(actual) << actual.error().message;
  const auto count = static_cast<std::size_t>((*actual)[0].elements());
  EXPECT_EQ(static_cast<std::size_t>((*expected)[1].elements()), count);
  Outcome outcome;
  std::vector<double> relative{0.0};
  double squares = 0, skipped = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = load_element((*actual)[0].dtype, (*actual)[0].bytes.data(), i);
    const double e = load_element((*expected)[0].dtype, (*expected)[0].bytes.data(), i);
    const double bound = (*expected)[1].as<double>()[i];
    EXPECT_FALSE(std::isnan(bound)) << "element " << i;
    if (std::isinf(bound)) {
      ++skipped;
      continue;
    }
    const double ratio = a == e ? 0 : std::fabs(a - e) / bound;
    outcome.worst = std::max(outcome.worst, ratio);
    squares += ratio * ratio;
    if (e != 0) relative.push_back(bound / std::fabs(e));
  }
  outcome.rms = std::sqrt(squares / std::max(1.0, static_cast<double>(count) - skipped));
  outcome.median_relative = median(relative);
  outcome.skipped = skipped / std::max<double>(1.0, static_cast<double>(count));
  return outcome;
}

const std::vector<Task>& tasks() {
  const Bindings small{{"n", 64}, {"m", 257}};
  static const std::vector<Task> all{
      {"gelu", "y = gelu(x)", {{"x", "f32[n, m]"}}, small},
      {"gelu_tanh", "y = gelu(x, approximate=\"tanh\")", {{"x", "f32[n, m]"}}, small},
      {"silu", "y = silu(x * 8)", {{"x", "f32[n, m]"}}, small},
      {"mish", "y = mish(x)", {{"x", "f32[n, m]"}}, small},
      {"elu", "y = elu(3 * x - 0.1)", {{"x", "f32[n, m]"}}, small},
      {"softplus", "y = softplus(5 * x)", {{"x", "f32[n, m]"}}, small},
      {"powers", "y = p ** 1.7 + p ** 3 - p ** -0.5", {{"p", "f32[n, m]"}}, small},
      {"trigonometry", "y = sin(10 * x) * cos(x) + tan(x * 0.3)", {{"x", "f32[n, m]"}}, small},
      {"logarithms", "y = log(p) + log2(p * 3) + log1p(p) + sqrt(p + 1e-3)", {{"p", "f32[n, m]"}}, small},
      {"division", "y = x / (x * x + 0.1) + 1 / p", {{"x", "f32[n, m]"}, {"p", "f32[n, m]"}}, small},
      {"remainders", "y = (x * 5) % 0.7 + floor(x * 9.3) + round(7 * x)", {{"x", "f32[n, m]"}}, small},
      {"softmax", "y = softmax(x * 3)", {{"x", "f32[n, m]"}}, small},
      {"log_softmax", "y = log_softmax(x)", {{"x", "f32[n, m]"}}, small},
      {"logsumexp", "y = logsumexp(x, axis=1)", {{"x", "f32[n, m]"}}, small},
      {"layer_norm",
       "y = layer_norm(x, weight=w, bias=b)",
       {{"x", "f32[n, m]"}, {"w", "f32[m]"}, {"b", "f32[m]"}},
       small},
      {"rms_norm",
       "y = x * rsqrt(mean(x*x, axis=-1, keepdims=true) + 1e-6) * w",
       {{"x", "f32[n, m]"}, {"w", "f32[m]"}},
       small},
      {"batch_norm", "y = batch_norm(x, training=true)", {{"x", "f32[8, n, 17]"}}, small},
      {"variance", "y = var(x + 3, axis=1)", {{"x", "f32[n, m]"}}, small},
      {"norm", "y = norm(x)", {{"x", "f32[n, m]"}}, small},
      {"sum_positive", "y = sum(p, axis=0)", {{"p", "f32[30000, 16]"}}, small},
      {"matmul_64", "y = a @ b", {{"a", "f32[33, k]"}, {"b", "f32[k, 65]"}}, {{"k", 64}}},
      {"matmul_1024", "y = a @ b", {{"a", "f32[33, k]"}, {"b", "f32[k, 65]"}}, {{"k", 1024}}},
      {"matmul_4096", "y = a @ b", {{"a", "f32[17, k]"}, {"b", "f32[k, 33]"}}, {{"k", 4096}}},
      {"matmul_positive", "y = p @ abs(b)", {{"p", "f32[17, k]"}, {"b", "f32[k, 33]"}}, {{"k", 4096}}},
      {"mlp",
       "y = relu(x @ a + c) @ b",
       {{"x", "f32[33, m]"}, {"a", "f32[m, n]"}, {"c", "f32[n]"}, {"b", "f32[n, 9]"}},
       small},
      {"attention",
       "y = attention(q, k, v, causal=true)",
       {{"q", "f32[2, n, 32]"}, {"k", "f32[2, n, 32]"}, {"v", "f32[2, n, 32]"}},
       small},
      {"conv2d", "y = relu(conv2d(x, w, padding=1))", {{"x", "f32[2, 16, 12, 11]"}, {"w", "f32[8, 16, 3, 3]"}}, small},
      {"conv_transpose2d",
       "y = conv_transpose2d(x, w, stride=2, padding=1)",
       {{"x", "f32[2, 16, 7, 6]"}, {"w", "f32[16, 4, 3, 3]"}},
       small},
      {"max_pool", "y = max_pool2d(conv2d(x, w), 2)", {{"x", "f32[2, 16, 12, 11]"}, {"w", "f32[8, 16, 3, 3]"}}, small},
      {"avg_pool", "y = avg_pool2d(x, 3)", {{"x", "f32[2, 16, 12, 11]"}}, small},
      {"cumsum", "y = cumsum(x, axis=1)", {{"x", "f32[n, 4000]"}}, small},
      {"cumprod", "y = cumprod(x * 0.1 + 1, axis=1)", {{"x", "f32[n, m]"}}, small},
      {"cross_entropy", "y = cross_entropy(x, t, reduction=\"none\")", {{"x", "f32[m, 10]"}, {"t", "i64[m]"}}, small},
      {"huber", "y = huber_loss(x, z, reduction=\"none\")", {{"x", "f32[n, m]"}, {"z", "f32[n, m]"}}, small},
      {"f16_output", "y = gelu(x)", {{"x", "f16[n, m]"}}, small},
      {"bf16_cast", "y = f32(bf16(x * 3)) + 1", {{"x", "f32[n, m]"}}, small},
      {"argmax", "y = argmax(x * 1.1, axis=1)", {{"x", "f32[n, m]"}}, small},
      {"comparison", "y = where(x * 1.7 > 0.3, x, -x)", {{"x", "f32[n, m]"}}, small},
  };
  return all;
}

class ErrorBound : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ErrorBound, CoversHonestSinglePrecisionCode) {
  const Outcome outcome = measure(tasks()[GetParam()]);
  RecordProperty("worst", std::to_string(outcome.worst));
  EXPECT_LE(outcome.worst, 4) << "rms " << outcome.rms << ", median relative bound " << outcome.median_relative;
  EXPECT_LT(outcome.skipped, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Tasks, ErrorBound, ::testing::Range<std::size_t>(0, tasks().size()),
                         [](const auto& each) { return tasks()[each.param].name; });

const Task& task_named(const std::string& name) {
  return *std::find_if(tasks().begin(), tasks().end(), [&](const Task& task) { return task.name == name; });
}

/// Errors with one cause (a row's mean) exceed what independent ones lead to, but not by much.
TEST(ErrorBoundWidth, OfErrorsThatWalkIsOfTheSizeOfHonestErrors) {
  ir::ErrorModel model;
  model.walk = true;
  for (const char* name : {"gelu", "softmax", "layer_norm", "batch_norm", "variance", "mlp", "attention", "conv2d",
                           "avg_pool", "cumsum", "cumprod", "matmul_positive"}) {
    const Outcome outcome = measure(task_named(name), {}, model);
    EXPECT_LE(outcome.worst, 4) << name << ": rms " << outcome.rms;
    EXPECT_LT(outcome.skipped, 0.01) << name;
  }
}

TEST(ErrorBoundWidth, IsAFewRoundingsForElementwiseFunctions) {
  for (const char* name : {"gelu", "gelu_tanh", "silu", "division", "log_softmax"})
    EXPECT_LT(measure(task_named(name)).median_relative, 1e-6) << name;
}

TEST(ErrorBoundWidth, ExposesOperandsOfLowerPrecision) {
  for (const char* name : {"matmul_64", "matmul_1024", "matmul_4096", "conv2d", "mlp"}) {
    const Outcome honest = measure(task_named(name));
    for (const OperandRounding rounding : {OperandRounding::tf32, OperandRounding::f16, OperandRounding::bf16}) {
      NaiveOptions options;
      options.operand_rounding = rounding;
      const Outcome rounded = measure(task_named(name), options);
      EXPECT_GT(rounded.worst, 4) << name;
      EXPECT_GT(rounded.rms, 10 * honest.rms) << name;
    }
  }
}

TEST(ErrorBoundWidth, GrantsTheDeclaredOperandPrecision) {
  NaiveOptions tf32, bf16;
  tf32.operand_rounding = OperandRounding::tf32;
  bf16.operand_rounding = OperandRounding::bf16;
  ir::ErrorModel model;
  model.operand = 0x1p-11;
  for (const char* name : {"matmul_64", "matmul_4096", "conv2d"}) {
    EXPECT_LE(measure(task_named(name), tf32, model).worst, 1) << name;
  }
  // Operand errors are granted in full, not as a random walk, so only short sums tell neighbouring classes apart.
  EXPECT_GT(measure(task_named("matmul_64"), bf16, model).worst, 1);
}

TEST(ErrorBoundWidth, FollowsTheModelToDoublePrecision) {
  NaiveOptions options;
  options.compute = DType::f64;
  options.outputs_in_compute_type = true;
  ir::ErrorModel model;
  model.rounding = model.accumulate = 0x1p-53;
  model.tiny = 0x1p-1022;
  Task task = task_named("layer_norm");
  for (auto& [name, type] : task.inputs) type.replace(0, 3, "f64");
  const Outcome outcome = measure(task, options, model);
  EXPECT_LE(outcome.worst, 4);
  EXPECT_LT(outcome.median_relative, 1e-14);
}

}  // namespace
}  // namespace kerf::codegen
