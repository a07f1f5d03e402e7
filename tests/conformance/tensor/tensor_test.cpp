// Kernels for matrix units, where there may be no such device: they compile within the limits of a block, and emulated
// on the host they pass the judge's comparison, with inputs that need their fallbacks as well.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "../../target_environment.hpp"
#include "base/test_paths.hpp"
#include "base/text.hpp"
#include "build/build.hpp"
#include "codegen/dialects/dialects.hpp"
#include "emulation.hpp"
#include "oracle/compare.hpp"
#include "oracle/reference.hpp"
#include "propose/synth/synthesiser.hpp"
#include "target/target.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

constexpr std::int64_t kMostShared = 227 * 1024, kRegisters = 65536;

const std::map<std::string, std::string>& expressions() {
  static const std::map<std::string, std::string> all{
      {"product", R"(
[inputs]
a = "f32[m, k]"
b = "f32[k, n]"
[shapes]
odd   = { m = 70, n = 131, k = 333 }
large = { m = 4096, n = 4096, k = 4096, targets = ["cuda"] }
[reference]
expr = 'c = matmul(a, b)'
)"},
      {"transposed_product", R"(
[inputs]
a = "f32[batch, k, m]"
b = "f32[batch, n, k]"
bias = "f32[n]"
[shapes]
odd   = { batch = 2, m = 67, n = 89, k = 43 }
large = { batch = 16, m = 1024, n = 1024, k = 512, targets = ["cuda"] }
[reference]
expr = 'c = relu(matmul(transpose(a, [0, 2, 1]), transpose(b, [0, 2, 1])) + bias)'
)"},
      {"convolution", R"(
[inputs]
x = "f32[batch, 2*c, h, v]"
w = "f32[2*f, c, 2, 3]"
[shapes]
odd   = { batch = 2, c = 13, f = 9, h = 9, v = 10 }
large = { batch = 32, c = 64, f = 128, h = 64, v = 64, targets = ["cuda"] }
[reference]
expr = 'y = conv2d(x, w, stride=[2, 1], padding=[1, 2], dilation=[1, 2], groups=2) * 0.5'
)"},
      {"transposed_convolution", R"(
[inputs]
x = "f32[batch, c, d, h, v]"
w = "f32[c, f, 3, 2, 3]"
[shapes]
odd   = { batch = 2, c = 19, f = 5, d = 3, h = 4, v = 5 }
large = { batch = 16, c = 64, f = 64, d = 16, h = 32, v = 32, targets = ["cuda"] }
[reference]
expr = 'y = conv_transpose3d(x, w, stride=[2, 3, 1], padding=1, output_padding=[1, 1, 0])'
)"},
  };
  return all;
}

struct Case {
  std::string task, precision, variant;
  Bindings parameters;  ///< beside the defaults
};
std::string text_of(const Case& c) {
  std::string text = c.task + "_" + c.variant;
  for (const auto& [name, value] : c.parameters) text += "_" + name + std::to_string(value);
  return text;
}
void PrintTo(const Case& c, std::ostream* out) { *out << text_of(c); }

Task task_of(const Case& c) {
  const std::string text =
      "name = \"" + c.task + "\"\nprecision = \"" + c.precision + "\"\n" + expressions().at(c.task);
  auto task = parse_task(text, ".", c.task + ".toml");
  EXPECT_TRUE(task) << task.error().message;
  return *std::move(task);
}

Result<Candidate> render(const Task& task, const Case& c) {
  KERF_TRY(const auto synthesiser, synth::Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, {}));
  for (synth::Genome genome : synthesiser->starts()) {
    if (genome.genes.size() != 1 || genome.genes[0].variant != c.variant) continue;
    for (const auto& [name, value] : c.parameters) genome.genes[0].parameters[name] = value;
    KERF_TRY(Candidate candidate, synthesiser->render(genome));
    KERF_TRY_VOID(check_against(task, candidate));
    return candidate;
  }
  return fail(Errc::not_found, "no genome starts with " + c.variant);
}

const ShapeSet& shape_of(const Task& task, std::string_view name) {
  for (const ShapeSet& shape : task.shapes)
    if (shape.name == name) return shape;
  ADD_FAILURE() << "no shape " << name;
  return task.shapes.front();
}

class Emulated : public testing::TestWithParam<Case> {
 protected:
  void open() {
    task_ = task_of(GetParam());
    auto candidate = render(task_, GetParam());
    ASSERT_TRUE(candidate) << candidate.error().message;
    auto reference = oracle::make_graph_reference(task_);
    ASSERT_TRUE(reference) << reference.error().message;
    reference_ = *std::move(reference);
    const auto folder = std::filesystem::path(testing::TempDir()) / ("kerf_emulation_" + text_of(GetParam()));
    auto program = build_emulation(task_, *candidate, shape_of(task_, "odd"), folder);
    ASSERT_TRUE(program) << program.error().message;
    program_ = *program;
  }
  void TearDown() override {
    if (!program_.empty()) std::filesystem::remove_all(program_.parent_path());
  }
  /// Both as it is drawn, and after `change` (input, flat index, value).
  void holds(oracle::Pattern pattern, const std::function<float(std::size_t, std::int64_t, float)>& change = {}) {
    const ShapeSet& shape = shape_of(task_, "odd");
    auto inputs = oracle::draw_inputs(task_, shape, {pattern, 5});
    ASSERT_TRUE(inputs) << inputs.error().message;
    for (std::size_t n = 0; change && n < inputs->size(); ++n)
      for (std::int64_t i = 0; i < (*inputs)[n].elements(); ++i) {
        float& value = (*inputs)[n].as<float>()[i];
        value = change(n, i, value);
      }
    const auto data = reference_->expect(shape, *std::move(inputs));
    ASSERT_TRUE(data) << data.error().message;
    const auto outputs = emulate(task_, shape, program_, *data);
    ASSERT_TRUE(outputs) << outputs.error().message;
    const auto seen =
        oracle::compare(DType::f32, (*outputs)[0].bytes, data->expected[0], data->bound[0], data->nan_is_free);
    EXPECT_EQ(seen.wrong, 0) << seen.wrong << " of " << seen.total << "; worst at " << seen.worst << ": "
                             << seen.worst_actual << " instead of " << seen.worst_expected << ", bound "
                             << seen.worst_bound;
    EXPECT_GT(seen.compared, 0);
  }

  Task task_;
  std::unique_ptr<oracle::Reference> reference_;
  std::filesystem::path program_;
};

TEST_P(Emulated, PassesTheComparisonOnEveryInputFamilyAndWhereItsRangeEnds) {
  open();
  if (HasFatalFailure()) return;
  for (const oracle::Pattern pattern : oracle::kAllPatterns) {
    SCOPED_TRACE(oracle::pattern_name(pattern));
    // Zeros around an image times a weight that is not finite: the reference and plain loops disagree there.
    const bool finite_weights = GetParam().task.ends_with("convolution");
    holds(pattern, [&](std::size_t n, std::int64_t, float x) {
      return finite_weights && n == 1 && !std::isfinite(x) ? 1.0F : x;
    });
  }
  {
    SCOPED_TRACE("magnitudes over 40 binades: more than f16 has");
    holds(oracle::Pattern::normal,
          [](std::size_t, std::int64_t i, float x) { return std::ldexp(x, -static_cast<int>(i * 7919 % 40)); });
  }
  {
    SCOPED_TRACE("a few entries far below the others");
    holds(oracle::Pattern::normal,
          [](std::size_t n, std::int64_t i, float x) { return n == 0 && i % 997 == 5 ? x * 0x1p-34F : x; });
  }
  {
    SCOPED_TRACE("large and small operands whose product is ordinary");
    holds(oracle::Pattern::normal, [](std::size_t n, std::int64_t, float x) {
      return n == 0 ? x * 0x1p90F : n == 1 ? x * 0x1p-90F : x;
    });
  }
}

class EmulatedProduct : public Emulated {};

TEST_P(EmulatedProduct, ComputesSumsThatMeetOnlyTheSmallEntriesOfARow) {
  open();
  if (HasFatalFailure()) return;
  // Row 3 of a is 1 at k = 0 and tiny elsewhere; row 0 of b is zero.
  const std::int64_t k = shape_of(task_, "odd").symbols.at("k"), n = shape_of(task_, "odd").symbols.at("n");
  holds(oracle::Pattern::normal, [&](std::size_t input, std::int64_t i, float x) {
    if (input == 0 && i / k == 3) return i % k == 0 ? 1.0F : x * 0x1p-38F;
    return input == 1 && i < n ? 0.0F : x;
  });
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return text_of(info.param); }

INSTANTIATE_TEST_SUITE_P(Tensor, EmulatedProduct,
                         testing::Values(Case{"product", "f32", "tensor_split_f16", {}},
                                         Case{"product", "tf32", "tensor_f16", {{"BM", 64}, {"BN", 64}}}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Tensor, Emulated,
    testing::Values(Case{"product", "f32", "tensor_split_f16", {}},
                    Case{"product", "f32", "tensor_split_f16_warp", {{"BM", 64}, {"STAGES", 2}, {"WARPS_N", 2}}},
                    Case{"transposed_product", "f32", "tensor_split_f16", {{"BM", 64}, {"BN", 64}}},
                    Case{"transposed_product", "tf32", "tensor_f16", {{"BM", 64}}},
                    Case{"convolution", "tf32", "tensor_tf32", {{"BM", 64}}},
                    Case{"convolution", "tf32", "tensor_f16", {{"BM", 128}, {"BN", 64}}},
                    Case{"convolution", "f32", "tensor_split_f16", {}},
                    Case{"convolution", "f32", "tensor_split_f16", {{"BN", 32}}},
                    Case{"transposed_convolution", "f32", "tensor_split_f16", {{"BM", 64}, {"BN", 64}, {"STAGES", 4}}},
                    Case{"transposed_convolution", "tf32", "tensor_tf32", {{"BM", 64}, {"BN", 64}, {"STAGES", 3}}},
                    Case{"transposed_convolution", "tf32", "tensor_tf32", {{"BN", 32}}},
                    Case{"transposed_convolution", "tf32", "tensor_f16", {{"BM", 128}, {"BN", 32}, {"STAGES", 3}}},
                    Case{"transposed_convolution", "tf32", "tensor_f16", {{"BM", 64}, {"BN", 64}, {"STAGES", 5}}}),
    name_of);

/// NVRTC without a device; started once per test program.
Result<Target*> cuda() {
  static const std::unique_ptr<Sandbox> sandbox = make_sandbox();
  static Result<Target> target = [] {
    TargetResources context;
    context.self = kerf_program();
    context.cache = std::filesystem::temp_directory_path() / "kerf_tensor_conformance";
    context.sandbox = sandbox.get();
    context.environment = target_environment();
    return make_target("cuda", context, "", true);
  }();
  return target ? Result<Target*>(&*target) : fail(Errc::unavailable, target.error().message);
}

class Compiled : public testing::TestWithParam<Case> {};

TEST_P(Compiled, FitsABlockAndUsesTheMatrixUnits) {
  const auto target = cuda();
  if (!target) GTEST_SKIP() << target.error().message;
  const Task task = task_of(GetParam());
  const auto candidate = render(task, GetParam());
  ASSERT_TRUE(candidate) << candidate.error().message;
  Bindings constants = shape_of(task, "large").symbols;
  for (const Tunable& tunable : candidate->tunables) constants[tunable.name] = tunable.values.front();
  const auto built = (*target)->language->compile(make_request(*candidate, constants, "sm_90"));
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE(std::holds_alternative<Artifact>(*built)) << std::get<CompileFailed>(*built).log;
  const auto& artifact = std::get<Artifact>(*built);
  EXPECT_TRUE(artifact.facts.writable_globals.empty());
  EXPECT_TRUE(artifact.facts.forbidden_symbols.empty());
  const bool by_warps = GetParam().variant.ends_with("_warp");
  EXPECT_NE(artifact.disassembly_hint.find(by_warps ? "mma.sync" : "wgmma.mma_async"), std::string::npos);
  std::map<std::string, KernelFacts> facts;
  for (const auto& kernel : artifact.facts.kernels) facts[kernel.name] = kernel;
  for (const Launch& launch : candidate->plan.launches) {
    SCOPED_TRACE(launch.kernel);
    const KernelFacts& kernel = facts.at(launch.kernel);
    const auto threads = launch.block.front().evaluate(constants), shared = launch.shared_bytes.evaluate(constants);
    ASSERT_TRUE(threads && shared);
    EXPECT_LE((kernel.registers + 7) / 8 * 8 * *threads, kRegisters);
    EXPECT_LE(kernel.shared_bytes + *shared, kMostShared);
    EXPECT_LE(kernel.local_bytes, 16) << "more is spilled than a value or two outside of the main loop";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tensor, Compiled,
    testing::Values(Case{"product", "f32", "tensor_split_f16", {}},
                    Case{"product", "f32", "tensor_split_f16", {{"BM", 256}, {"BN", 64}, {"STAGES", 2}}},
                    Case{"product", "f32", "tensor_split_f16_warp", {}},
                    Case{"transposed_product", "tf32", "tensor_f16", {}},
                    Case{"product", "tf32", "tensor_f16", {{"BM", 256}, {"BN", 128}}},
                    Case{"convolution", "tf32", "tensor_tf32", {}},
                    Case{"convolution", "tf32", "tensor_tf32", {{"BN", 32}}},
                    Case{"convolution", "tf32", "tensor_f16", {{"BM", 128}, {"BN", 256}, {"STAGES", 3}}},
                    Case{"convolution", "f32", "tensor_split_f16", {{"BM", 128}, {"BN", 32}, {"STAGES", 4}}},
                    Case{"convolution", "f32", "tensor_split_f16", {}},
                    Case{"convolution", "f32", "tensor_split_f16", {{"BM", 64}, {"BN", 64}, {"STAGES", 5}}},
                    Case{"transposed_convolution", "f32", "tensor_split_f16", {{"BM", 64}, {"BN", 128}, {"STAGES", 4}}},
                    Case{"transposed_convolution", "tf32", "tensor_f16", {}},
                    Case{"transposed_convolution", "tf32", "tensor_tf32", {{"BM", 256}, {"STAGES", 3}}}),
    name_of);

}  // namespace
}  // namespace kerf
