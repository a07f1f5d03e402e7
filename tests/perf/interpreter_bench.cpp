// How fast the reference is: every verdict waits for it. Not part of ctest; run it on an idle machine.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/rng.hpp"
#include "ir/analysis/error_bound.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

struct Case {
  std::string text;
  std::vector<TensorType> inputs;
  bool bounds = false;  ///< with the error bounds added, as the verifier evaluates it
};

HostTensor random_tensor(const TensorType& type, Rng& rng) {
  HostTensor tensor = make_tensor(type.dtype, evaluate(type.shape, {}).value());
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    store_element(type.dtype, tensor.bytes.data(), static_cast<std::size_t>(i), rng.normal());
  return tensor;
}

void interpret_case(benchmark::State& state, const Case& task) {
  auto graph = parse_expression(task.text, task.inputs, {}, {});
  if (graph && task.bounds) graph = with_error_bounds(*graph, {}, {Bindings{}});
  if (!graph) return state.SkipWithError(graph.error().message.c_str());
  Rng rng(1);
  std::vector<HostTensor> inputs;
  for (const auto& type : task.inputs) inputs.push_back(random_tensor(type, rng));
  for (auto _ : state) {
    const auto outputs = interpret(*graph, inputs, {}, {.threads = static_cast<int>(state.range(0))});
    if (!outputs) return state.SkipWithError(outputs.error().message.c_str());
    benchmark::DoNotOptimize(outputs->front().bytes.data());
  }
}

void add(const std::string& name, const Case& task) {
  benchmark::RegisterBenchmark(name.c_str(), interpret_case, task)
      ->Arg(1)
      ->Arg(2)
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

void add_all() {
  const auto f32 = [](const std::string& name, const Shape& shape) { return TensorType{name, DType::f32, shape}; };
  const TensorType x = f32("x", {4'194'304}), rows = f32("x", {1024, 4096}), weight = f32("w", {4096});
  const std::string norm = "y = x * rsqrt(mean(x * x, -1, keepdims=true) + 1e-6) * w";
  add("gelu_4M", {"y = gelu(x)", {x}});
  add("gelu_4M_bounds", {"y = gelu(x)", {x}, true});
  add("rmsnorm_1024x4096", {norm, {rows, weight}});
  add("rmsnorm_1024x4096_bounds", {norm, {rows, weight}, true});
  add("softmax_1024x4096_bounds", {"y = softmax(x, -1)", {rows}, true});
  add("transpose_add_2048", {"y = x + transpose(x, 0, 1)", {f32("x", {2048, 2048})}});
  add("batchnorm_16x64x64x64", {"y = batch_norm(x)", {f32("x", {16, 64, 64, 64})}});
  for (const std::int64_t n : {1024, 2048})
    add("matmul_" + std::to_string(n), {"y = x @ w", {f32("x", {n, n}), f32("w", {n, n})}});
  add("conv2d_8x64x56x56_k3", {"y = conv2d(x, w, padding=1)", {f32("x", {8, 64, 56, 56}), f32("w", {64, 64, 3, 3})}});
  add("conv2d_depthwise_8x64x56x56_k3",
      {"y = conv2d(x, w, padding=1, groups=64)", {f32("x", {8, 64, 56, 56}), f32("w", {64, 1, 3, 3})}});
  add("conv_transpose2d_8x64x28x28_k4_s2",
      {"y = conv_transpose2d(x, w, stride=2, padding=1)", {f32("x", {8, 64, 28, 28}), f32("w", {64, 64, 4, 4})}});
}

}  // namespace
}  // namespace kerf::ir

int main(int argc, char** argv) {
  kerf::ir::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
