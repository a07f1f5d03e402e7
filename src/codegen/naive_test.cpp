#include "codegen/naive.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/rng.hpp"
#include "codegen/compiled_cpp.hpp"
#include "codegen/naive_cases.hpp"
#include "ir/interpreter.hpp"

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
  const std::string text = *generate_naive(build_case(test_case()), Dialect::opencl_c, {});
  const Status status = check_with("clang-19 -x cl -cl-std=CL1.2 -Wall -Werror -Wno-division-by-zero -fsyntax-only {}",
                                   symbol_definitions(test_case().symbols) + text, "cl");
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

}  // namespace
}  // namespace kerf::codegen
