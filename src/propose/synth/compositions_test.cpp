// No composition may end a run: whatever the synthesiser hands out can be written as a candidate file, also for graphs
// whose extents and fusions are awkward.

#include <gtest/gtest.h>

#include <set>

#include "codegen/dialects/dialects.hpp"
#include "ir/expression/expression.hpp"
#include "propose/synth/synthesiser.hpp"

namespace kerf::synth {
namespace {

struct Case {
  const char* name;
  std::vector<std::pair<std::string, std::string>> inputs;
  const char* expression;
  std::vector<Bindings> shapes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"conv3d_hardswish_group_norm_mean",
       {{"x", "f32[n, c, d, h, w]"}, {"k", "f32[f, c, kd, kh, kw]"}, {"b", "f32[f]"}, {"g", "f32[f]"}, {"s", "f32[f]"}},
       "z = hardswish(conv3d(x, k, b, stride=2, padding=1))\ny = mean(group_norm(z, groups, g, s), axis=[2, 3, 4])",
       {{{"n", 2}, {"c", 3}, {"f", 8}, {"d", 10}, {"h", 12}, {"w", 14}, {"kd", 3}, {"kh", 3}, {"kw", 3}, {"groups", 4}},
        {{"n", 1}, {"c", 2}, {"f", 4}, {"d", 5}, {"h", 7}, {"w", 6}, {"kd", 2}, {"kh", 3}, {"kw", 1}, {"groups", 2}}}},
      {"conv2d_group_norm_residual_logsumexp",
       {{"x", "f32[n, c, h, w]"}, {"k", "f32[f, c, kh, kw]"}, {"b", "f32[f]"}, {"g", "f32[f]"}, {"s", "f32[f]"}},
       "z = conv2d(x, k, b)\nt = hardswish(tanh(group_norm(z, groups, g, s)))\n"
       "y = logsumexp(z + t, axis=1, keepdims=true)",
       {{{"n", 2}, {"c", 3}, {"f", 8}, {"h", 12}, {"w", 14}, {"kh", 3}, {"kw", 3}, {"groups", 4}},
        {{"n", 1}, {"c", 2}, {"f", 4}, {"h", 7}, {"w", 6}, {"kh", 2}, {"kw", 1}, {"groups", 2}}}},
      {"conv_transpose_mean_logsumexp",
       {{"x", "f32[n, c, h, w]"}, {"k", "f32[c, f, kh, kw]"}, {"b", "f32[f]"}},
       "z = conv_transpose2d(x, k, stride=2, padding=1)\nz = mean(z, axis=[2, 3], keepdims=true) + reshape(b, [1, -1, "
       "1, 1])\n"
       "y = sum(logsumexp(z, axis=1, keepdims=true), axis=[2, 3]) * 10.0",
       {{{"n", 2}, {"c", 3}, {"f", 8}, {"h", 12}, {"w", 14}, {"kh", 3}, {"kw", 3}}}},
      {"softmax_of_batch_norm",
       {{"x", "f32[n, f]"}, {"g", "f32[f]"}, {"s", "f32[f]"}},
       "y = softmax(batch_norm(x, none, none, g, s), axis=1)",
       {{{"n", 64}, {"f", 96}}}},
      {"min_of_group_norm",
       {{"x", "f32[n, f]"}, {"g", "f32[f]"}, {"s", "f32[f]"}},
       "y = min(group_norm(x, groups, g, s), axis=1, keepdims=true) + s",
       {{{"n", 64}, {"f", 96}, {"groups", 8}}}},
      {"conv_group_norm_pool_clamp",
       {{"x", "f32[n, c, h, w]"}, {"k", "f32[f, c, kh, kw]"}, {"g", "f32[f]"}, {"s", "f32[f]"}},
       "z = group_norm(conv2d(x, k), groups, g, s)\ny = clamp(max_pool2d(z * 2.0, 2), min=0, max=1)",
       {{{"n", 2}, {"c", 3}, {"f", 8}, {"h", 12}, {"w", 14}, {"kh", 3}, {"kw", 3}, {"groups", 4}}}},
  };
  return all;
}

std::unique_ptr<Synthesiser> synthesiser_of(const Case& given, const std::string& target) {
  Task task;
  task.name = given.name;
  for (const auto& [name, type] : given.inputs) task.inputs.push_back(*ir::parse_tensor_type(name, type));
  double weight = 1;
  for (const Bindings& symbols : given.shapes) {
    task.shapes.push_back({"s" + std::to_string(task.shapes.size()), symbols, weight, {}});
    weight = 0;
  }
  auto graph = ir::parse_expression(given.expression, task.inputs, {"y"}, given.shapes);
  KERF_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  const ir::Node& node = (*graph)[graph->outputs[0].node];
  task.outputs = {{"y", node.dtype, node.shape}};
  task.graph = *std::move(graph);
  task.distributions.resize(task.inputs.size());
  const auto& dialect = target == "cpu"    ? codegen::dialects::cpp
                        : target == "cuda" ? codegen::dialects::cuda_cpp
                                           : codegen::dialects::opencl_c;
  auto made = Synthesiser::create(task, target, dialect, DeviceFacts{});
  KERF_CHECK(made.has_value(), made ? "" : made.error().message.c_str());
  return *std::move(made);
}

class Compositions : public testing::TestWithParam<std::size_t> {};

TEST_P(Compositions, AllThatIsHandedOutCanBeWritten) {
  const Case& given = cases()[GetParam()];
  for (const std::string target : {"cpu", "opencl", "cuda"}) {
    SCOPED_TRACE(std::string(given.name) + " on " + target);
    const auto synthesiser = synthesiser_of(given, target);
    std::vector<Genome> genomes = synthesiser->starts();
    ASSERT_FALSE(genomes.empty());
    Rng rng(5);
    for (int draw = 0; draw < 8; ++draw) genomes.push_back(synthesiser->random(rng));
    Genome walker = genomes.front();
    for (int step = 0; step < 8; ++step)
      if (auto next = synthesiser->change_fusion(walker, rng)) genomes.push_back(walker = *std::move(next));
    for (const Genome& genome : genomes) {
      const auto candidate = synthesiser->render(genome);
      ASSERT_TRUE(candidate) << synthesiser->describe(genome) << ": " << candidate.error().message;
      EXPECT_EQ(candidate->source.find("<invalid>"), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Compositions, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& given) { return std::string(cases()[given.param].name); });

}  // namespace
}  // namespace kerf::synth
