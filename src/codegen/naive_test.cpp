#include "codegen/naive.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <set>

#include "base/rng.hpp"
#include "codegen/compiled_cpp.hpp"
#include "codegen/dialects/dialects.hpp"
#include "codegen/naive_cases.hpp"
#include "ir/analysis/error_bound.hpp"
#include "ir/interpret/interpreter.hpp"
#include "ir/map_op.hpp"

namespace kerf::codegen {
namespace {

ir::HostTensor random_tensor(DType dtype, std::vector<std::int64_t> shape, Rng& rng) {
  ir::HostTensor tensor = ir::make_tensor(dtype, std::move(shape));
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) {
    const double value = is_float(dtype)           ? rng.normal() * 1.5
                         : dtype == DType::boolean ? static_cast<double>(rng.chance(0.5))
                                                   : static_cast<double>(rng.integer(-9, 9));
    store_element(dtype, tensor.bytes.data(), i, value);
  }
  return tensor;
}

std::vector<ir::HostTensor> random_inputs(const ir::Graph& graph, const Bindings& bindings) {
  std::vector<ir::HostTensor> inputs;
  Rng rng(7);
  for (const auto& input : graph.inputs)
    inputs.push_back(random_tensor(graph[input.node].dtype, *evaluate(graph[input.node].shape, bindings), rng));
  return inputs;
}

/// Relative to the larger of the value and 1, which is about the size of the terms that were added up.
void expect_close(const ir::HostTensor& actual, const ir::HostTensor& expected, double tolerance,
                  const std::string& name) {
  ASSERT_EQ(actual.shape, expected.shape) << name;
  for (std::size_t i = 0; i < static_cast<std::size_t>(actual.elements()); ++i) {
    const double a = load_element(actual.dtype, actual.bytes.data(), i);
    const double e = load_element(expected.dtype, expected.bytes.data(), i);
    if (std::isnan(e) || std::isinf(e)) {
      ASSERT_TRUE(std::isnan(e) ? std::isnan(a) : a == e) << name << "[" << i << "]: " << a << " instead of " << e;
      continue;
    }
    ASSERT_LE(std::fabs(a - e), tolerance * std::fmax(std::fabs(e), 1))
        << name << "[" << i << "]: " << a << " instead of " << e;
  }
}

class NaiveCpp : public ::testing::TestWithParam<std::size_t> {
 protected:
  const GraphCase& test_case() const { return graph_cases()[GetParam()]; }

  void compare(const NaiveOptions& options, double tolerance) {
    const ir::Graph graph = build_case(test_case());
    const auto inputs = random_inputs(graph, test_case().symbols);
    const auto expected = ir::interpret(graph, inputs, test_case().symbols);
    ASSERT_TRUE(expected) << expected.error().message;
    const auto actual = run_compiled(graph, inputs, test_case().symbols, options);
    ASSERT_TRUE(actual) << actual.error().message;
    ASSERT_EQ(actual->size(), expected->size());
    for (std::size_t i = 0; i < actual->size(); ++i) {
      const DType dtype = (*actual)[i].dtype;
      const double storage = dtype == DType::f16 ? 0x1p-10 : dtype == DType::bf16 ? 0x1p-7 : tolerance;
      expect_close((*actual)[i], (*expected)[i], is_float(dtype) ? storage : 0, graph.outputs[i].name);
    }
  }
};

TEST_P(NaiveCpp, AgreesWithTheInterpreterInDoublePrecision) {
  NaiveOptions options;
  options.compute = DType::f64;
  options.outputs_in_compute_type = true;
  compare(options, 1e-12);
}

TEST_P(NaiveCpp, AgreesWithTheInterpreterInSinglePrecision) { compare({}, 3e-5); }

TEST_P(NaiveCpp, OpenClTextPassesTheCompiler) {
  if (!is_installed("clang-19")) GTEST_SKIP() << "clang-19 is not installed";
  const std::string text = *generate_naive(build_case(test_case()), dialects::opencl_c, {});
  const Status status = check_with("clang-19 -x cl -cl-std=CL1.2 -Wall -Werror -Wno-division-by-zero -fsyntax-only {}",
                                   symbol_definitions(test_case().symbols) + text, "cl");
  EXPECT_TRUE(status) << (status ? "" : status.error().message) << text;
}

/// Declarations that CUDA's compilers bring themselves, enough for clang to check the text without a toolkit: the math
/// functions are those that the spellings of ir/map_ops.def call.
std::string cuda_declarations() {
  std::string text = R"(#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
struct KerfDim { unsigned x, y, z; };
extern const __device__ KerfDim blockIdx, blockDim, threadIdx;
__device__ float __int_as_float(int);
__device__ double __longlong_as_double(long long);
__device__ unsigned __float_as_uint(float);
__device__ float __uint_as_float(unsigned);
__device__ long long __double_as_longlong(double);
)";
  std::set<std::string> one, two{"fmod", "copysign"};  // these two are called by helpers
  for (const ir::MapOp op : ir::all_map_ops()) {
    const ir::MapOpFacts& facts = ir::facts_of(op);
    if (!facts.native.empty()) one.emplace(facts.native);
    const std::string spelling(facts.c);
    static const std::regex call(R"(\{([a-z]\w+)\}\(([^()]*))");  // "{pow}({x}, {y}"
    for (std::sregex_iterator found(spelling.begin(), spelling.end(), call), end; found != end; ++found)
      ((*found)[2].str().find(',') == std::string::npos ? one : two).insert((*found)[1]);
  }
  for (const auto& name : one)
    text += fmt::format("__device__ float {0}f(float);\n__device__ double {0}(double);\n", name);
  for (const auto& name : two)
    text += fmt::format("__device__ float {0}f(float, float);\n__device__ double {0}(double, double);\n", name);
  return text;
}

TEST_P(NaiveCpp, CudaTextPassesTheCompiler) {
  if (!is_installed("clang++-19")) GTEST_SKIP() << "clang++-19 is not installed";
  NaiveOptions options;
  options.operand_rounding = OperandRounding::tf32;
  const std::string text = *generate_naive(build_case(test_case()), dialects::cuda_cpp, options);
  const Status status = check_with(
      "clang++-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Wall -Werror "
      "-Wno-division-by-zero -fsyntax-only {}",
      cuda_declarations() + symbol_definitions(test_case().symbols) + text, "cu");
  EXPECT_TRUE(status) << (status ? "" : status.error().message) << text;
}

INSTANTIATE_TEST_SUITE_P(Graphs, NaiveCpp, ::testing::Range<std::size_t>(0, graph_cases().size()),
                         [](const auto& each) { return graph_cases()[each.param].name; });

TEST(NaiveCases, CoverEveryOperator) {
  std::set<ir::MapOp> maps;
  std::set<ir::ReduceOp> reductions;
  std::set<std::size_t> kinds;
  for (const auto& test_case : graph_cases())
    for (const ir::Graph graph = build_case(test_case); const auto& node : graph.nodes) {
      kinds.insert(node.attr.index());
      if (ir::is<ir::MapAttr>(node)) maps.insert(ir::attr<ir::MapAttr>(node).op);
      if (ir::is<ir::ReduceAttr>(node)) reductions.insert(ir::attr<ir::ReduceAttr>(node).op);
    }
  EXPECT_EQ(kinds.size(), std::variant_size_v<ir::Attr>);
  EXPECT_EQ(maps.size(), static_cast<std::size_t>(ir::MapOp::cast) + 1);
  EXPECT_EQ(reductions.size(), static_cast<std::size_t>(ir::ReduceOp::all) + 1);
}

const GraphCase& case_named(const std::string& name) {
  for (const auto& test_case : graph_cases())
    if (test_case.name == name) return test_case;
  ADD_FAILURE() << "no case " << name;
  return graph_cases().front();
}

TEST(NaiveText, OfSoftmaxIsFourLaunchesWithScratchBetween) {
  NaiveOptions options;
  options.target = "gpu";
  const std::string text = *generate_naive(build_case(case_named("softmax")), dialects::cuda_cpp, options);
  EXPECT_EQ(text.substr(0, text.find("*/")),
            "/* kerf\n"
            "target: gpu\n"
            "scratch: t1 = f32[rows, 1]\n"
            "scratch: t3 = f32[rows, cols]\n"
            "launch: naive_0<<<max(1, ceil_div(rows, 256)), 256>>>(x, t1)\n"
            "launch: naive_1<<<max(1, ceil_div(cols*rows, 256)), 256>>>(x, t1, t3)\n"
            "launch: naive_2<<<max(1, ceil_div(rows, 256)), 256>>>(t3, t1)\n"
            "launch: naive_3<<<max(1, ceil_div(cols*rows, 256)), 256>>>(t3, t1, y)\n");
}

TEST(NaiveText, OfElementwiseGraphsIsOneKernelWithoutScratch) {
  SureBuilder b;
  const auto x = b.input("x", DType::f32, {Dim::symbol("n")});
  const auto e = b.apply(ir::MapOp::exp, x);  // used twice, but in one kernel
  b.output("y", b.apply(ir::MapOp::div, b.apply(ir::MapOp::sub, e, b.constant(1, DType::f32)), e));
  const std::string text = *generate_naive(b.take(), dialects::opencl_c, {});
  EXPECT_EQ(text.find("scratch:"), std::string::npos);
  EXPECT_EQ(text.find("naive_1"), std::string::npos);
  EXPECT_EQ(text.find("exp("), text.rfind("exp("));
  EXPECT_EQ(text.find("fp64"), std::string::npos);
}

TEST(NaiveText, ReusesScratchThatNobodyReadsAnyMore) {
  SureBuilder b;
  const Dim n = Dim::symbol("n");
  ir::NodeId x = b.input("x", DType::f32, {n, n});
  for (int i = 0; i < 20; ++i) x = b.sure(b.matmul(x, x));
  b.output("y", x);
  const std::string text = *generate_naive(b.take(), dialects::cuda_cpp, {});
  EXPECT_NE(text.find("naive_19<<<"), std::string::npos);
  std::size_t buffers = 0;
  for (std::size_t at = text.find("scratch:"); at != std::string::npos; at = text.find("scratch:", at + 1)) ++buffers;
  EXPECT_EQ(buffers, 2);
}

TEST(NaiveText, MixesSizesRatherThanDeclareManyBuffers) {
  SureBuilder b;
  ir::NodeId x = b.input("x", DType::f32, {Dim(2), Dim::symbol("n")});
  const Bindings symbols{{"n", 3}};
  for (int i = 0; i < 30; ++i)  // every product has another size
    x = b.sure(b.matmul(
        x, b.sure(b.broadcast_to(b.constant(0.25, DType::f32), {b.node(x).shape[1], Dim::symbol("n") + Dim(i)}))));
  b.output("y", x);
  const ir::Graph graph = b.take();
  const std::string text = *generate_naive(graph, dialects::cuda_cpp, {});
  std::size_t buffers = 0;
  for (std::size_t at = text.find("scratch:"); at != std::string::npos; at = text.find("scratch:", at + 1)) ++buffers;
  EXPECT_LE(buffers, 16);
  const auto inputs = random_inputs(graph, symbols);
  const auto actual = run_compiled(graph, inputs, symbols, {});
  ASSERT_TRUE(actual) << actual.error().message;
  expect_close((*actual)[0], (*ir::interpret(graph, inputs, symbols))[0], 1e-3, "y");
}

TEST(NaiveText, TakesPrefixAndLeavesOutTheHeaderOnRequest) {
  NaiveOptions options;
  options.kernel_prefix = "oracle";
  options.header = false;
  options.compute = DType::f64;
  const std::string text = *generate_naive(build_case(case_named("softmax")), dialects::opencl_c, options);
  EXPECT_EQ(text.find("/* kerf"), std::string::npos);
  EXPECT_NE(text.find("__kernel void oracle_0("), std::string::npos);
  EXPECT_NE(text.find("cl_khr_fp64"), std::string::npos);
}

TEST(NaiveText, SharesEveryLoopBetweenTheCoresOnRequest) {
  NaiveOptions options;
  const ir::Graph softmax = build_case(case_named("softmax"));
  EXPECT_EQ(generate_naive(softmax, dialects::cpp, options)->find("omp parallel"), std::string::npos);
  options.parallel = true;
  const std::string text = *generate_naive(softmax, dialects::cpp, options);
  std::size_t loops = 0, at = 0;
  while ((at = text.find("#pragma omp parallel for\n  for (", at)) != std::string::npos) ++loops, ++at;
  EXPECT_EQ(loops, 4U);  // one per kernel
}

TEST(NaiveText, IsRefusedWhenArgumentsShareAName) {
  SureBuilder b;
  b.output("x", b.apply(ir::MapOp::exp, b.input("x", DType::f32, {Dim(3)})));
  const auto text = generate_naive(b.take(), dialects::cpp, {});
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("'x'"), std::string::npos);
}

TEST(NaiveText, IsRefusedForOtherComputeTypes) {
  NaiveOptions options;
  options.compute = DType::f16;
  EXPECT_FALSE(generate_naive(build_case(case_named("softmax")), dialects::cpp, options));
}

/// Runs one graph of x[n] in single precision.
std::vector<double> run_vector(const std::function<void(SureBuilder&, ir::NodeId)>& build, std::vector<double> values,
                               const NaiveOptions& options = {}, DType dtype = DType::f32) {
  SureBuilder b;
  build(b, b.input("x", dtype, {Dim::symbol("n")}));
  ir::HostTensor x = ir::make_tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) store_element(dtype, x.bytes.data(), i, values[i]);
  const auto outputs =
      run_compiled(b.take(), std::vector{x}, {{"n", static_cast<std::int64_t>(values.size())}}, options);
  EXPECT_TRUE(outputs) << outputs.error().message;
  std::vector<double> result;
  for (const auto& output : *outputs)
    for (std::size_t i = 0; i < static_cast<std::size_t>(output.elements()); ++i)
      result.push_back(load_element(output.dtype, output.bytes.data(), i));
  return result;
}

TEST(NaiveCode, KeepsNansInExtremesAndFindsTheFirst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto result = run_vector(
      [](SureBuilder& b, ir::NodeId x) {
        b.output("max", b.sure(b.reduce(ir::ReduceOp::max, x, {}, false)));
        b.output("argmin", b.sure(b.reduce(ir::ReduceOp::argmin, x, {0}, false)));
        b.output("relu", b.apply(ir::MapOp::maximum, b.constant(0, DType::f32), x));
        b.output("cap", b.apply(ir::MapOp::minimum, x, b.constant(0, DType::f32)));
        b.output("sign", b.apply(ir::MapOp::sign, x));
      },
      {1, nan, -5, nan});
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 1);
  for (const std::size_t at : {2, 6, 10}) {
    EXPECT_FALSE(std::isnan(result[at]));
    EXPECT_TRUE(std::isnan(result[at + 1]));
    EXPECT_TRUE(std::isnan(result[at + 3]));
  }
}

TEST(NaiveCode, RoundsHalvesToEvenAndRemaindersLikePython) {
  const auto result = run_vector(
      [](SureBuilder& b, ir::NodeId x) {
        b.output("round", b.apply(ir::MapOp::round, x));
        b.output("remainder", b.apply(ir::MapOp::remainder, x, b.constant(2, DType::f32)));
        b.output("negative", b.apply(ir::MapOp::remainder, x, b.constant(-2, DType::f32)));
      },
      {0.5, 1.5, -2.5});
  EXPECT_EQ(result, (std::vector<double>{0, 2, -2, 0.5, 1.5, 1.5, -1.5, -0.5, -0.5}));
}

TEST(NaiveCode, SurvivesIntegerDivisionByZero) {
  const auto result = run_vector(
      [](SureBuilder& b, ir::NodeId x) {
        b.output("quotient", b.apply(ir::MapOp::floor_div, b.constant(7, DType::i32), x));
        b.output("rest", b.apply(ir::MapOp::remainder, b.constant(7, DType::i32), x));
      },
      {0, -2}, {}, DType::i32);
  EXPECT_EQ(result[1], -4);
  EXPECT_EQ(result[3], -1);
}

TEST(NaiveCode, RoundsOperandsOfProductsOnly) {
  const double fine = 1 + 0x1p-9 + 0x1p-11;  // needs 11 mantissa bits
  for (const auto& [rounding, expected] : {std::pair{OperandRounding::none, fine},
                                           {OperandRounding::tf32, 1 + 0x1p-9},
                                           {OperandRounding::f16, 1 + 0x1p-9},
                                           {OperandRounding::bf16, 1.0}}) {
    NaiveOptions options;
    options.operand_rounding = rounding;
    for (const DType compute : {DType::f32, DType::f64}) {
      options.compute = compute;
      const auto result = run_vector(
          [](SureBuilder& b, ir::NodeId x) {
            b.output("product", b.sure(b.contract(x, b.sure(b.broadcast_to(b.constant(1, DType::f32), {Dim(1)})),
                                                  {{0}, {1}, {0}})));
            b.output("sum", b.apply(ir::MapOp::mul, x, b.constant(1, DType::f32)));
          },
          {fine}, options);
      EXPECT_EQ(result, (std::vector<double>{expected, fine}));
    }
  }
}

TEST(NaiveCode, ConvertsEveryHalfFloatThereAndBack) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    std::vector<double> all;
    for (int bits = 0; bits < 65536; ++bits) {
      const auto narrow = static_cast<unsigned short>(bits);
      all.push_back(dtype == DType::f16 ? f16_to_f32(narrow) : bf16_to_f32(narrow));
    }
    const auto result =
        run_vector([](SureBuilder& b, ir::NodeId x) { b.output("y", b.apply(ir::MapOp::neg, x)); }, all, {}, dtype);
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_TRUE(result[i] == -all[i] || (std::isnan(result[i]) && std::isnan(all[i]))) << i;
  }
}

TEST(NaiveCode, EvaluatesErrorBoundsAsTheInterpreterDoes) {
  for (const bool walk : {false, true}) {
    SCOPED_TRACE(walk);
    const GraphCase& test_case = case_named("softmax");
    ir::ErrorModel model;
    model.walk = walk;
    const ir::Graph bounded = *ir::with_error_bounds(build_case(test_case), model, {test_case.symbols});
    const auto inputs = random_inputs(bounded, test_case.symbols);
    NaiveOptions options;
    options.compute = DType::f64;
    options.outputs_in_compute_type = true;
    const auto actual = run_compiled(bounded, inputs, test_case.symbols, options);
    ASSERT_TRUE(actual) << actual.error().message;
    const auto expected = ir::interpret(bounded, inputs, test_case.symbols);
    ASSERT_TRUE(expected);
    for (std::size_t i = 0; i < 35; ++i) {
      EXPECT_GT((*expected)[1].as<double>()[i], 0);
      EXPECT_NEAR((*actual)[1].as<double>()[i], (*expected)[1].as<double>()[i], 1e-18);
    }
  }
}

}  // namespace
}  // namespace kerf::codegen
