// Oracles whose work-groups work together, run by a GPU or the fake driver and held to the interpreter.

#include "codegen/naive.hpp"
#include "device/cuda/cuda_bench_fixture.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf {
namespace {

struct OracleCase {
  const char* name;
  std::vector<std::pair<std::string, std::string>> inputs;
  const char* expression;
  std::vector<const char*> forms;  ///< each occurs in the text: the kernels really are those of work-groups
};

const char* const kTiled = "][129]";     // a tile of 128 x 128
const char* const kSmallTile = "][65]";  // 64 x 64
const char* const kTree = "half";
const char* const kPieces = "partials[";

const std::vector<OracleCase>& oracle_cases() {
  static const std::vector<OracleCase> all = {
      {"product", {{"a", "f32[130, 150]"}, {"b", "f32[150, 70]"}}, "y = a @ b", {kTiled}},
      {"batched linear", {{"a", "f32[3, 40, 500]"}, {"b", "f32[3, 20, 500]"}}, "y = abs(a) @ abs(b).mT", {kSmallTile}},
      {"long sums", {{"a", "f32[20, 3000]"}, {"b", "f32[3000, 20]"}}, "y = a @ b", {kSmallTile, kPieces}},
      {"two rows", {{"a", "f32[2, 2100]"}, {"b", "f32[2100, 260]"}}, "y = a @ b", {kTree}},
      {"matrix times vector", {{"a", "f32[11, 100000]"}, {"b", "f32[100000]"}}, "y = a @ b", {kTree, kPieces}},
      {"axes in between",
       {{"a", "f32[5, 17, 6, 70]"}, {"b", "f32[70, 5, 33, 6]"}},
       "y = einsum('aibk,kajb->ajib', a, b); z = einsum('aibk,kajb->ij', a, b)",
       {kSmallTile}},
      {"convolution",
       {{"x", "f32[3, 8, 31, 29]"}, {"w", "f32[32, 4, 5, 5]"}},
       "y = conv2d(x, w, stride=[1, 2], padding=2, dilation=[2, 1], groups=2); z = conv2d(x, w[:, :, :4], groups=2)",
       {kSmallTile}},
      {"transposed convolution",
       {{"x", "f32[2, 24, 9, 17]"}, {"w", "f32[24, 20, 4, 3]"}},
       "y = conv_transpose2d(x, w, stride=[2, 3], padding=1, dilation=[1, 2], groups=2)",
       {kSmallTile, "continue"}},
      {"convolution in three dimensions",
       {{"x", "f32[2, 3, 9, 14, 15]"}, {"w", "f32[70, 3, 3, 5, 3]"}},
       "y = conv3d(x, w)",
       {kTiled}},
      {"rows",
       {{"x", "f32[7, 300]"}},
       "a = sum(x, -1); b = max(x, -1, keepdims=true); c = prod(1 + x / 100, -1); d = any(x > 2, -1); e = mean(x)",
       {kTree}},
      {"long rows",
       {{"x", "f32[3, 9001]"}},
       "a = sum(x * x, -1); b = amin(x, -1); c = all(x > -9, -1)",
       {kTree, kPieces}},
      {"columns", {{"x", "f32[4, 500, 6]"}}, "a = sum(x, 1); b = amax(x, 1); c = argmax(x, 1)", {kTree}},
      {"counts", {{"i", "i32[5, 3000]"}}, "a = sum(i, -1); b = amax(i, -1)", {kTree}},
      {"scans",
       {{"x", "f32[5, 700]"}},
       "a = cumsum(x, 1); b = cumsum(x, 1, reverse=true, exclusive=true); c = cummax(x, 1, exclusive=true)",
       {"reach"}},
      {"norm", {{"x", "f32[2, 6, 40, 41]"}, {"g", "f32[6]"}}, "y = group_norm(x, 3, g) + softmax(x)", {kTree}},
  };
  return all;
}

std::vector<std::string> outputs_of(const OracleCase& one) {
  std::vector<std::string> outputs;
  for (const char c : std::string("abcdeyz"))
    if (("; " + std::string(one.expression)).find(fmt::format("; {} = ", c)) != std::string::npos)
      outputs.emplace_back(1, c);
  return outputs;
}

ir::Graph graph_of(const OracleCase& one) {
  std::vector<ir::TensorType> types;
  for (const auto& [name, type] : one.inputs) types.push_back(*ir::parse_tensor_type(name, type));
  return ir::parse_expression(one.expression, types, outputs_of(one), {Bindings{}}).value();
}

class GroupKernelsTest : public CudaBenchTest {
 protected:
  static oracle::DataSet data_for(const ir::Graph& graph, bool specials) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal(0, 1.5);
    oracle::DataSet data;
    data.id = next_id();
    for (const auto& input : graph.inputs) {
      const auto& node = graph[input.node];
      auto& tensor = data.inputs.emplace_back(ir::make_tensor(node.dtype, *evaluate(node.shape, {})));
      const auto count = static_cast<std::size_t>(tensor.elements());
      for (std::size_t i = 0; i < count; ++i)
        store_element(node.dtype, tensor.bytes.data(), i,
                      is_float(node.dtype) ? normal(random) : static_cast<double>(random() % 19) - 9);
      if (!specials || !is_float(node.dtype)) continue;
      for (const double value : {kInfinity, -kInfinity, kNan})
        store_element(node.dtype, tensor.bytes.data(), random() % count, value);
    }
    return data;
  }

  static void expect_close(const ir::HostTensor& actual, const ir::HostTensor& expected, double tolerance,
                           const std::string& name) {
    ASSERT_EQ(actual.elements(), expected.elements()) << name;
    for (std::size_t i = 0; i < static_cast<std::size_t>(actual.elements()); ++i) {
      const double a = load_element(actual.dtype, actual.bytes.data(), i);
      const double e = load_element(expected.dtype, expected.bytes.data(), i);
      const bool same = std::isnan(e)   ? std::isnan(a)
                        : std::isinf(e) ? a == e
                                        : std::fabs(a - e) <= tolerance * (1 + std::fabs(e));
      ASSERT_TRUE(same) << name << "[" << i << "]: " << a << " instead of " << e;
    }
  }

  void compare(const OracleCase& one, bool specials, DType compute = DType::f64) {
    const ir::Graph graph = graph_of(one);
    const std::vector<std::string> outputs = outputs_of(one);
    const Bindings none;
    codegen::NaiveOptions options;
    options.compute = compute;
    options.outputs_in_compute_type = true;
    options.shape = &none;
    const auto source = codegen::generate_naive(graph, codegen::dialects::cuda_cpp, options);
    ASSERT_TRUE(source) << source.error().message;
    for (const char* form : compute == DType::f64 ? one.forms : std::vector<const char*>{})
      EXPECT_NE(source->find(form), std::string::npos) << form << "\n" << *source;
    const auto candidate = parse_candidate("oracle", *source);
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto data = data_for(graph, specials);
    const auto expected = ir::interpret(graph, data.inputs, none);
    ASSERT_TRUE(expected) << expected.error().message;
    ProblemLayout layout;
    for (std::size_t i = 0; i < data.inputs.size(); ++i)
      layout.buffers.push_back({one.inputs[i].first, data.inputs[i].dtype, data.inputs[i].shape, BufferRole::input});
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const DType dtype = graph.nodes[static_cast<std::size_t>(graph.outputs[o].node)].dtype;
      layout.buffers.push_back(
          {outputs[o], is_float(dtype) ? compute : dtype, (*expected)[o].shape, BufferRole::output});
    }
    auto bench = open(layout);
    const auto kernel = loaded(*bench, *source, candidate->plan, {});
    stage(*bench, 0, data);
    timed(*bench, kernel);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const auto actual = bench->read_output(0, static_cast<int>(o));
      ASSERT_TRUE(actual) << actual.error().message;
      expect_close(*actual, (*expected)[o], compute == DType::f64 ? 1e-10 : 2e-3, outputs[o]);
    }
  }

  /// With the extents of the shape and without them the kernels have the same results, to the bit.
  void expect_equal_bits(const OracleCase& one, codegen::NaiveOptions options) {
    const ir::Graph graph = graph_of(one);
    const auto data = data_for(graph, false);
    ProblemLayout layout;
    for (std::size_t i = 0; i < data.inputs.size(); ++i)
      layout.buffers.push_back({one.inputs[i].first, data.inputs[i].dtype, data.inputs[i].shape, BufferRole::input});
    const auto& output = graph.nodes[static_cast<std::size_t>(graph.outputs[0].node)];
    layout.buffers.push_back({"y", DType::f32, *evaluate(output.shape, {}), BufferRole::output});
    auto bench = open(layout);
    std::vector<ir::HostTensor> results;
    const Bindings none;
    for (const Bindings* shape : {static_cast<const Bindings*>(nullptr), &none}) {
      options.shape = shape;
      const auto source = codegen::generate_naive(graph, codegen::dialects::cuda_cpp, options);
      ASSERT_TRUE(source) << source.error().message;
      for (const char* form : shape != nullptr ? one.forms : std::vector<const char*>{})
        EXPECT_NE(source->find(form), std::string::npos) << form << "\n" << *source;
      const auto candidate = parse_candidate("plain", *source);
      const auto kernel = loaded(*bench, *source, candidate->plan, {});
      stage(*bench, 0, data);
      timed(*bench, kernel);
      results.push_back(*bench->read_output(0, 0));
    }
    EXPECT_EQ(results[0].bytes, results[1].bytes);
  }
};

TEST_P(GroupKernelsTest, AgreeWithTheInterpreter) {
  for (const OracleCase& one : oracle_cases()) {
    SCOPED_TRACE(one.name);
    compare(one, false);
  }
}

TEST_P(GroupKernelsTest, AgreeWithTheInterpreterOnInfinitiesAndNan) {
  for (const OracleCase& one : oracle_cases()) {
    SCOPED_TRACE(one.name);
    compare(one, true);
  }
}

TEST_P(GroupKernelsTest, AgreeInSinglePrecisionToo) {
  for (const OracleCase& one : oracle_cases()) {
    SCOPED_TRACE(one.name);
    if (std::string_view(one.name) != "scans") compare(one, false, DType::f32);
  }
}

TEST_P(GroupKernelsTest, LoseInSinglePrecisionWhatThePlainKernelLoses) {
  const std::vector<OracleCase> cases = {
      {"sums", {{"x", "f32[3, 9001]"}}, "y = sum(x, -1)", {}},
      {"product", {{"a", "f32[70, 1200]"}, {"b", "f32[1200, 130]"}}, "y = a @ b", {}},
  };
  for (const OracleCase& one : cases) {
    SCOPED_TRACE(one.name);
    expect_equal_bits(one, {});
  }
}

TEST_P(GroupKernelsTest, HaveTheRunningSumsOfThePlainKernelOfTheClass) {
  const std::vector<OracleCase> cases = {
      {"long sums", {{"x", "f32[3, 9001]"}}, "y = sum(x, -1)", {}},
      {"product", {{"a", "f32[70, 2300]"}, {"b", "f32[2300, 130]"}}, "y = a @ b", {kTiled}},
      {"thin product", {{"a", "f32[7, 9000]"}, {"b", "f32[9000, 33]"}}, "y = a @ b", {}},
      {"conv", {{"x", "f32[2, 40, 20, 21]"}, {"w", "f32[24, 40, 3, 3]"}}, "y = conv2d(x, w, padding=1)", {kSmallTile}},
      {"transposed",
       {{"x", "f32[2, 40, 20, 21]"}, {"w", "f32[40, 24, 3, 3]"}},
       "y = conv_transpose2d(x, w, stride=2, padding=1)",
       {kSmallTile}},
  };
  for (const OracleCase& one : cases) {
    for (const auto rounding : {codegen::OperandRounding::none, codegen::OperandRounding::tf32}) {
      SCOPED_TRACE(one.name);
      codegen::NaiveOptions options;
      options.running_sums = true;
      options.operand_rounding = rounding;
      expect_equal_bits(one, options);
    }
  }
}

TEST(GroupKernels, CompileForEveryGenerationWithoutSpills) {
  CudaLanguageOptions options;
  options.self = self();
  if (*KERF_NVRTC_DIR) options.search.folders.emplace_back(KERF_NVRTC_DIR);
  if (const char* folder = std::getenv("KERF_NVRTC_DIR")) options.search.folders.emplace_back(folder);
  options.processes = 1;
  const auto language = make_cuda_language(options);
  if (!language) GTEST_SKIP() << language.error().message;
  for (const OracleCase& one : oracle_cases()) {
    SCOPED_TRACE(one.name);
    const Bindings none;
    codegen::NaiveOptions naive;
    naive.compute = DType::f64;
    naive.outputs_in_compute_type = true;
    naive.shape = &none;
    const auto source = codegen::generate_naive(graph_of(one), codegen::dialects::cuda_cpp, naive);
    ASSERT_TRUE(source) << source.error().message;
    CompileRequest request;
    request.source = *source;
    request.arch = "sm_90";
    const auto outcome = (*language)->compile(request);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(std::holds_alternative<Artifact>(*outcome)) << std::get<CompileFailed>(*outcome).log;
    for (const auto& kernel : std::get<Artifact>(*outcome).facts.kernels)
      EXPECT_EQ(kernel.local_bytes, 0) << kernel.name;
  }
}

INSTANTIATE_TEST_SUITE_P(On, GroupKernelsTest, testing::Values(kFake), rig_name);

}  // namespace
}  // namespace kerf
