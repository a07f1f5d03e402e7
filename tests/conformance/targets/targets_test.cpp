// Every node kind, on every target of this machine, in f32 and f64: the generated naive kernel against the interpreter.
// A target that is not available here skips visibly.

#include <gtest/gtest.h>

#include <map>

#include "../../target_environment.hpp"
#include "base/test_paths.hpp"
#include "build/build.hpp"
#include "codegen/naive_cases.hpp"
#include "oracle/reference.hpp"
#include "target/target.hpp"
#include "verify/verify.hpp"

namespace kerf {
namespace {

/// Targets are started once per test program; what could not be started keeps its reason.
class Machine {
 public:
  Machine() : sandbox_(make_sandbox()), cache_(std::filesystem::temp_directory_path() / "kerf_conformance") {}

  Result<Target*> target(const std::string& name) {
    if (auto known = targets_.find(name); known != targets_.end())
      return known->second ? Result<Target*>(&*known->second) : fail(Errc::unavailable, known->second.error().message);
    TargetResources context;
    context.self = kerf_program();
    context.cache = cache_;
    context.sandbox = sandbox_.get();
    context.secret = 12345;
    context.environment = target_environment();
    targets_.emplace(name, make_target(name, context));
    return target(name);
  }

 private:
  std::unique_ptr<Sandbox> sandbox_;
  std::filesystem::path cache_;
  std::map<std::string, Result<Target>> targets_;
};

Machine& machine() {
  static Machine instance;  // a fixture of this program, so that workers are not started per case
  return instance;
}

/// The case as a task whose float outputs have the type they are computed in.
Task task_of(const codegen::GraphCase& test_case, DType compute) {
  Task task;
  task.name = test_case.name;
  task.graph = codegen::build_case(test_case);
  task.precision = compute == DType::f64 ? Precision::f64 : Precision::f32;
  task.shapes = {{"case", test_case.symbols, 1, {}}};
  const ir::Graph& graph = *task.graph;
  for (const auto& input : graph.inputs)
    task.inputs.push_back({input.name, graph[input.node].dtype, graph[input.node].shape});
  for (const auto& output : graph.outputs) {
    const ir::Node& node = graph[output.node];
    task.outputs.push_back({output.name, is_float(node.dtype) ? compute : node.dtype, node.shape});
  }
  task.distributions.resize(task.inputs.size());
  return task;
}

ProblemLayout layout_of(const Task& task) {
  ProblemLayout layout;
  for (const auto& input : task.inputs)
    layout.buffers.push_back(
        {input.name, input.dtype, *evaluate(input.shape, task.shapes[0].symbols), BufferRole::input});
  for (const auto& output : task.outputs)
    layout.buffers.push_back(
        {output.name, output.dtype, *evaluate(output.shape, task.shapes[0].symbols), BufferRole::output});
  layout.slots = 2;
  return layout;
}

void conforms(Target& target, const codegen::GraphCase& test_case, DType compute) {
  const Task task = task_of(test_case, compute);
  codegen::NaiveOptions options;
  options.compute = compute;
  options.outputs_in_compute_type = true;
  const auto source = codegen::generate_naive(*task.graph, target.language->dialect(), options);
  ASSERT_TRUE(source) << source.error().message;
  const auto candidate = parse_candidate("naive", *source);
  ASSERT_TRUE(candidate) << candidate.error().message << "\n" << *source;
  const auto built = target.language->compile(make_request(*candidate, test_case.symbols, target.device->facts().arch));
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE(std::holds_alternative<Artifact>(*built)) << std::get<CompileFailed>(*built).log << "\n" << *source;

  const ProblemLayout layout = layout_of(task);
  std::vector<BufferSpec> outputs(layout.buffers.begin() + static_cast<std::ptrdiff_t>(task.inputs.size()),
                                  layout.buffers.end());
  const auto bench = target.device->open(layout);
  ASSERT_TRUE(bench) << bench.error().message;
  const auto loaded = (*bench)->load(std::get<Artifact>(*built), candidate->plan, test_case.symbols);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(std::holds_alternative<KernelHandle>(*loaded)) << std::get<Fault>(*loaded).message;

  const auto reference = oracle::make_graph_reference(task);
  ASSERT_TRUE(reference) << reference.error().message;
  for (const oracle::Pattern pattern : {oracle::Pattern::normal, oracle::Pattern::integers}) {
    auto data = oracle::make_data(task, **reference, task.shapes[0], {pattern, 7});
    ASSERT_TRUE(data) << data.error().message;
    VerifyOptions verify_options;
    verify_options.call_limit = std::chrono::seconds(60);
    const auto refusal = verify(**bench, std::get<KernelHandle>(*loaded), {&*data}, 2, outputs, verify_options);
    ASSERT_TRUE(refusal) << refusal.error().message;
    EXPECT_FALSE(refusal->has_value()) << outcome_message(to_outcome(**refusal)) << "\n" << *source;
  }
}

class TargetConformance : public testing::TestWithParam<std::string> {};

TEST_P(TargetConformance, NaiveKernelsOfEveryNodeKindMatchTheInterpreter) {
  const auto target = machine().target(GetParam());
  if (!target) GTEST_SKIP() << GetParam() << ": " << target.error().message;
  for (const codegen::GraphCase& test_case : codegen::graph_cases()) {
    for (const DType compute : {DType::f32, DType::f64}) {
      SCOPED_TRACE(test_case.name + " in " + std::string(dtype_name(compute)));
      conforms(**target, test_case, compute);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  RecordProperty("cases", static_cast<int>(codegen::graph_cases().size()));
}

std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Targets, TargetConformance, testing::ValuesIn(target_names()), name_of);

}  // namespace
}  // namespace kerf
