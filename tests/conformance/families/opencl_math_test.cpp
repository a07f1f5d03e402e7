// The elementary functions of kernels/dialect/math.h give the same bits in OpenCL C, in a loop that is vectorised, as
// in C++.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "../../../kernels/dialect/cpp.h"
#include "../../../kernels/dialect/math.h"
#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "target/target.hpp"

namespace kerf {
namespace {

using Function = float (*)(float);
struct Named {
  const char* name;
  Function here;
};
#define BOTH(name)                                     \
  Named {                                              \
    #name, [](float x) { return kerf_fast_##name(x); } \
  }
const std::array kFunctions{BOTH(exp),   BOTH(exp2), BOTH(expm1), BOTH(log),    BOTH(log2),
                            BOTH(log1p), BOTH(tanh), BOTH(erf),   BOTH(sigmoid)};
#undef BOTH

constexpr std::int64_t kCount = 65536;

/// Numbers of every sign and exponent, and the ones that need care.
ir::HostTensor arguments() {
  ir::HostTensor x = ir::make_tensor(DType::f32, {kCount});
  for (std::int64_t i = 0; i < kCount; ++i)
    x.as<float>()[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i * 65537 + 12345));
  const std::array care{0.0f,     -0.0f,           INFINITY, -INFINITY, NAN,      0x1p-149f, -0x1p-149f, 0x1p-126f,
                        88.7228f, 0x1.fffffep127f, 88.7229f, -87.33f,   -103.97f, -104.0f,   0.6f,       -0.6f,
                        1.0f,     -1.0f,           3.95f,    -3.95f};
  std::copy(care.begin(), care.end(), x.as<float>());
  return x;
}

std::string source_of(const std::string& layer, const std::string& math) {
  std::string text = layer + math + "KERF_KERNEL k(__global const float* restrict x, __global float* restrict y) {\n";
  for (std::size_t f = 0; f < kFunctions.size(); ++f)
    text += "  KERF_SIMD\n  for (int i = 0; i < n; ++i) y[" + std::to_string(f) + " * n + i] = kerf_fast_" +
            kFunctions[f].name + "(x[i]);\n";
  return text + "}\n";
}

TEST(OpenclMath, GivesTheSameBitsAsTheHosts) {
  const auto sandbox = make_sandbox();
  TargetResources context;
  context.self = kerf_program();
  context.cache = std::filesystem::temp_directory_path() / "kerf_opencl_math";
  context.sandbox = sandbox.get();
  context.secret = 1;
  for (const char* variable : {"PATH", "HOME", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(variable)) context.environment[variable] = value;
  const auto target = make_target("opencl", context);
  if (!target) GTEST_SKIP() << "no OpenCL here: " << target.error().message;
  if (!target->device->facts().runs_on_host) GTEST_SKIP() << "OpenCL candidates use math.h on processors only";

  const auto layer = read_file(source_folder() / "kernels/dialect/opencl.h");
  const auto math = read_file(source_folder() / "kernels/dialect/math.h");
  ASSERT_TRUE(layer && math);
  const auto compiled =
      target->language->compile({source_of(*layer, *math), {{"n", kCount}}, "", {}, std::chrono::seconds(60)});
  ASSERT_TRUE(compiled) << compiled.error().message;
  ASSERT_TRUE(std::holds_alternative<Artifact>(*compiled)) << std::get<CompileFailed>(*compiled).log;

  const auto results = static_cast<std::int64_t>(kFunctions.size()) * kCount;
  ProblemLayout layout;
  layout.buffers = {{"x", DType::f32, {kCount}, BufferRole::input}, {"y", DType::f32, {results}, BufferRole::output}};
  const auto bench = target->device->open(layout);
  ASSERT_TRUE(bench) << bench.error().message;
  LaunchPlan plan;
  plan.launches.emplace_back();
  plan.launches[0].kernel = "k";
  plan.launches[0].grid = {Dim(1)};
  plan.launches[0].block = {Dim(1)};
  plan.launches[0].args = {"x", "y"};
  const auto loaded = (*bench)->load(std::get<Artifact>(*compiled), plan, {{"n", kCount}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(std::holds_alternative<KernelHandle>(*loaded)) << std::get<Fault>(*loaded).message;
  oracle::DataSet data;
  data.id = 1;
  data.inputs = {arguments()};
  data.expected = {ir::make_tensor(DType::f64, {results})};
  data.bound = {ir::make_tensor(DType::f64, {results})};
  ASSERT_TRUE((*bench)->stage(0, data, Poison::a));
  const std::array slots{0};
  const auto ran = (*bench)->run(std::get<KernelHandle>(*loaded), slots, std::chrono::seconds(60));
  ASSERT_TRUE(ran && std::holds_alternative<Timing>(*ran));
  auto there = (*bench)->read_output(0, 0);
  ASSERT_TRUE(there) << there.error().message;

  const float* x = data.inputs[0].as<float>();
  for (std::size_t f = 0; f < kFunctions.size(); ++f) {
    int different = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const float here = kFunctions[f].here(x[i]), got = there->as<float>()[static_cast<std::int64_t>(f) * kCount + i];
      const bool same = std::bit_cast<std::uint32_t>(here) == std::bit_cast<std::uint32_t>(got) ||
                        (std::isnan(here) && std::isnan(got));
      if (!same && ++different <= 3)
        ADD_FAILURE() << kFunctions[f].name << "(" << x[i] << ") is " << got << " instead of " << here;
    }
    EXPECT_EQ(different, 0) << kFunctions[f].name;
  }
}

}  // namespace
}  // namespace kerf
