// The CUDA bench's comparison against the judge's own, data made on the device, and times that can be known beforehand.

#include <limits>

#include "device/cuda/cuda_bench_fixture.hpp"

namespace kerf {
namespace {

/// Actual values are an input that the kernel copies to the output, so the comparison can be held to the judge's own.
class CudaCompareTest : public CudaBenchTest {
 protected:
  void agrees(DType dtype, bool nan_is_free) {
    constexpr std::int64_t n = 4099;
    std::mt19937_64 random(static_cast<std::uint64_t>(dtype) * 2 + nan_is_free);
    std::normal_distribution<double> normal(0, 3);
    const auto pick = [&](std::vector<double> values) { return values[random() % values.size()]; };
    oracle::DataSet data;
    data.id = next_id();
    data.nan_is_free = nan_is_free;
    data.inputs.push_back(ir::make_tensor(dtype, {n}));
    const DType expected_type = is_float(dtype) ? DType::f64 : dtype == DType::boolean ? DType::boolean : DType::i64;
    data.expected.push_back(ir::make_tensor(expected_type, {n}));
    data.bound.push_back(ir::make_tensor(DType::f64, {n}));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double expected = is_float(dtype)           ? normal(random)
                        : dtype == DType::boolean ? static_cast<double>(random() % 2)
                                                  : std::floor(100 * normal(random));
      double bound = is_float(dtype) ? std::ldexp(1.0, -static_cast<int>(random() % 20)) : 0;
      double actual = expected;
      if (is_float(dtype)) actual += bound * normal(random) * (random() % 16 == 0 ? 3 : 0.3);
      if (random() % 32 == 0) bound = pick({0, kInfinity, kNan, 1e-30, 1e30});
      if (is_float(dtype) && random() % 16 == 0)
        expected = pick({kNan, kInfinity, -kInfinity, 0, 1e-42, 65519, 3.5e38, 1e60});
      if (is_float(dtype) && random() % 16 == 0) actual = pick({kNan, kInfinity, -kInfinity, 0, 1e-42, 65504, 3.4e38});
      if (!is_float(dtype) && random() % 64 == 0) actual = expected + 1;
      store_element(dtype, data.inputs[0].bytes.data(), at, actual);
      store_element(expected_type, data.expected[0].bytes.data(), at, expected);
      data.bound[0].as<double>()[i] = bound;
    }
    data.allowances = {{.most = 3, .unit = 0.5, .roundings = 4}};
    const ProblemLayout layout{{{"x", dtype, {n}, BufferRole::input}, {"y", dtype, {n}, BufferRole::output}}, 1};
    auto bench = open(layout);
    const auto kernel = loaded(*bench,
                               "extern \"C\" __global__ void k(const unsigned char* x, unsigned char* y) {\n"
                               "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n",
                               plan(n * 8 / 256 + 1), {{"n", n * static_cast<std::int64_t>(dtype_size(dtype))}});
    stage(*bench, 0, data);
    timed(*bench, kernel);
    const auto report = check(*bench, 0, data);
    ASSERT_EQ(report.outputs.size(), 1u);
    const auto& here = report.outputs[0];
    const auto there =
        oracle::compare(dtype, data.inputs[0].bytes, data.expected[0], data.bound[0], nan_is_free, data.allowance(0));
    EXPECT_EQ(here.total, there.total);
    EXPECT_EQ(here.compared, there.compared);
    EXPECT_EQ(here.wrong, there.wrong);
    EXPECT_EQ(here.squares_count, there.squares_count);
    EXPECT_NEAR(here.sum_squares, there.sum_squares, 1e-6 * there.sum_squares);
    EXPECT_NEAR(here.largest, there.largest, 1e-6 * there.largest);
    EXPECT_NEAR(here.worst_run, there.worst_run, 1e-6 * there.worst_run);
    EXPECT_EQ(here.octaves, there.octaves);
    EXPECT_EQ(there.octaves[0] > 0 && there.octaves[3] > 0, is_float(dtype));
    EXPECT_EQ(here.worst, there.worst);
    EXPECT_EQ(here.worst_ratio, there.worst_ratio);
    EXPECT_TRUE(here.worst_expected == there.worst_expected ||
                (std::isnan(here.worst_expected) && std::isnan(there.worst_expected)));
    EXPECT_TRUE(here.worst_actual == there.worst_actual ||
                (std::isnan(here.worst_actual) && std::isnan(there.worst_actual)));
    EXPECT_LT(here.compared, n);
    EXPECT_GT(here.wrong, 10);
    EXPECT_TRUE(report.changed_inputs.empty());
    EXPECT_TRUE(report.broken_red_zones.empty());
  }
};

TEST_P(CudaCompareTest, AgreesWithTheJudgesComparisonInEveryType) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    for (const bool nan_is_free : {false, true}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + (nan_is_free ? ", NaN free" : ""));
      agrees(dtype, nan_is_free);
    }
  }
}

/// An oracle for y = 2 x + 1 (f32) and z = x > 0 (bool), and honest kernels for both.
class CudaOracleTest : public CudaBenchTest {
 protected:
  static constexpr std::int64_t n = 5003;
  static ProblemLayout layout() {
    return {{{"x", DType::f32, {n}, BufferRole::input},
             {"y", DType::f32, {n}, BufferRole::output},
             {"z", DType::boolean, {n}, BufferRole::output}},
            1};
  }
  DeviceRecipe recipe(std::uint64_t seed, oracle::Pattern pattern) {
    DeviceRecipe recipe;
    recipe.inputs.push_back({{pattern, seed}, std::nullopt});
    recipe.constants = {{"n", n}};
    recipe.oracle = compiled(
        "extern \"C\" __global__ void o(const float* x, double* s, double* y, double* yb, unsigned char* z, double* "
        "zb) {\n"
        "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i >= n) return;\n  s[i] = 2.0 * x[i];\n"
        "  y[i] = s[i] + 1;\n  yb[i] = 6e-8 * (fabs(y[i]) + 1);\n  z[i] = x[i] > 0;\n  zb[i] = 0;\n}\n",
        recipe.constants);
    recipe.plan = plan((n + 255) / 256, {"x", "s", "y", "y!bound", "z", "z!bound"}, "o");
    recipe.plan.scratch.push_back({"s", DType::f64, {Dim(n)}});
    return recipe;
  }
  static constexpr const char* kHonest =
      "extern \"C\" __global__ void k(const float* x, float* y, unsigned char* z) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) { y[i] = 2 * x[i] + 1; z[i] = x[i] > 0; }\n}\n";
};

TEST_P(CudaOracleTest, ADataSetMadeOnTheDeviceJudgesLikeOneThatWasBrought) {
  auto bench = open(layout());
  auto* maker = dynamic_cast<DeviceOracle*>(bench.get());
  ASSERT_NE(maker, nullptr);
  oracle::DataSet data;
  data.id = next_id();
  const auto made = maker->make_on_device(data, recipe(17, oracle::Pattern::spikes));
  ASSERT_TRUE(made) << made.error().message;
  const auto launch = plan((n + 255) / 256, {"x", "y", "z"});
  const auto good = loaded(*bench, kHonest, launch, {{"n", n}});
  const auto bad = loaded(*bench,
                          "extern \"C\" __global__ void k(const float* x, float* y, unsigned char* z) {\n"
                          "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
                          "  if (i < n) { y[i] = i == 4000 ? 0.0f : 2 * x[i] + 1; z[i] = i == 3 ? 2 : x[i] > 0; }\n}\n",
                          launch, {{"n", n}});
  stage(*bench, 0, data);
  timed(*bench, good);
  auto report = check(*bench, 0, data);
  ASSERT_EQ(report.outputs.size(), 2u);
  EXPECT_EQ(report.outputs[0].compared, n);
  EXPECT_EQ(report.outputs[0].wrong, 0);
  EXPECT_EQ(report.outputs[1].wrong, 0);
  stage(*bench, 0, data);
  timed(*bench, bad);
  report = check(*bench, 0, data);
  EXPECT_EQ(report.outputs[0].wrong, 1);
  EXPECT_EQ(report.outputs[0].worst, 4000);
  EXPECT_EQ(report.outputs[1].wrong, 1);
  const auto drawn = oracle::draw({"x", DType::f32, {Dim(n)}}, {}, {oracle::Pattern::spikes, 17}, std::nullopt);
  ASSERT_TRUE(drawn);
  EXPECT_EQ(report.outputs[0].worst_expected, 2.0 * static_cast<double>(drawn->as<float>()[4000]) + 1);
  EXPECT_GT(report.outputs[0].worst_bound, 0);
}

TEST_P(CudaOracleTest, TheRecipeIsFollowedAgainInAFreshWorker) {
  auto bench = open(layout());
  auto* maker = dynamic_cast<DeviceOracle*>(bench.get());
  oracle::DataSet data;
  data.id = next_id();
  ASSERT_TRUE(maker->make_on_device(data, recipe(3, oracle::Pattern::normal)));
  const auto launch = plan((n + 255) / 256, {"x", "y", "z"});
  const auto bad =
      loaded(*bench, "extern \"C\" __global__ void k(const float* x, float* y, unsigned char* z) { *(int*)8 = 1; }",
             launch, {});
  EXPECT_TRUE(std::holds_alternative<Fault>(run(*bench, bad)));
  const auto good = loaded(*bench, kHonest, launch, {{"n", n}});
  stage(*bench, 0, data);
  timed(*bench, good);
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 0);
  maker->forget(data.id);
  EXPECT_FALSE(bench->stage(0, data, Poison::a));
}

TEST_P(CudaOracleTest, DrawsWhatTheHostDraws) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    const ProblemLayout copy{{{"x", dtype, {n}, BufferRole::input}, {"y", dtype, {n}, BufferRole::output}}, 1};
    auto bench = open(copy);
    auto* maker = dynamic_cast<DeviceOracle*>(bench.get());
    const auto bytes = n * static_cast<std::int64_t>(dtype_size(dtype));
    const auto oracle_code = compiled("extern \"C\" __global__ void o(const void* x, void* y, double* b) {}", {});
    const auto kernel = loaded(*bench,
                               "extern \"C\" __global__ void k(const unsigned char* x, unsigned char* y) {\n"
                               "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < m) y[i] = x[i];\n}\n",
                               plan(bytes / 256 + 1), {{"m", bytes}});
    using Kind = InputDistribution::Kind;
    std::vector<DeviceDraw> draws;
    for (const auto pattern : oracle::kAllPatterns) {
      oracle::InputDraw input{pattern, 5};
      if (pattern == oracle::Pattern::scaled) input.a = 0.037, input.b = -11.3;
      if (pattern == oracle::Pattern::rows) input.a = 37, input.b = 20;
      if (pattern == oracle::Pattern::masked) input.a = 37, input.b = -1e9;
      draws.push_back({input, std::nullopt});
    }
    draws.push_back({{oracle::Pattern::specials, 5, 0}, std::nullopt});  // without infinities
    for (const double mask : {-0x1p30, -0x1p14, 0.0, -std::numeric_limits<double>::infinity()})
      draws.push_back({{oracle::Pattern::masked, 5, 37, mask}, std::nullopt});
    for (const auto kind : {Kind::normal, Kind::uniform, Kind::integers, Kind::constant}) {
      InputDistribution given;
      given.kind = kind;
      given.a = -3.7;
      given.b = 9.1;
      if (kind == Kind::integers) given.a = -2, given.b = 5;
      draws.push_back({{oracle::Pattern::normal, 99}, given});
    }
    for (const auto& draw : draws) {
      oracle::DataSet data;
      data.id = next_id();
      DeviceRecipe recipe;
      recipe.inputs = {draw};
      recipe.oracle = oracle_code;
      recipe.plan = plan(1, {"x", "y", "y!bound"}, "o", 32);
      const auto made = maker->make_on_device(data, std::move(recipe));
      ASSERT_TRUE(made) << made.error().message;
      stage(*bench, 0, data);
      timed(*bench, kernel);
      const auto here = bench->read_output(0, 0);
      const auto there = oracle::draw({"x", dtype, {Dim(n)}}, {}, draw.input, draw.given);
      ASSERT_TRUE(here && there);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n) && here->bytes != there->bytes; ++i) {
        const auto size = dtype_size(dtype);
        if (std::memcmp(here->bytes.data() + i * size, there->bytes.data() + i * size, size) == 0) continue;
        ADD_FAILURE() << dtype_name(dtype) << ", draw " << (&draw - draws.data()) << ", element " << i << ": "
                      << load_element(dtype, here->bytes.data(), i) << " here, "
                      << load_element(dtype, there->bytes.data(), i) << " on the host";
        break;
      }
    }
  }
}

class GpuTimingTest : public CudaBenchTest {};

TEST_P(GpuTimingTest, ACopyOf64MegabytesTakesWhatMemoryTakes) {
  constexpr std::int64_t n = 1 << 24;
  auto bench = open(affine_layout(n, 4));
  const auto data = affine_data(n);
  const auto kernel = loaded(*bench, kAffine, plan(n / 256), {{"n", n}});
  for (int slot = 0; slot < 4; ++slot) stage(*bench, slot, data);
  timed(*bench, kernel, {0, 1, 2, 3});
  const auto one = timed(*bench, kernel, {0});
  const auto many = timed(*bench, kernel, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  std::printf("[ note     ] 128 MB moved: %.1f us alone, %.1f us in a batch of 16 (host %.1f)\n", one.device_us,
              many.device_us / 16, many.host_us / 16);
  EXPECT_GT(many.device_us / 16, 5);
  EXPECT_LT(many.device_us / 16, 5000);
  EXPECT_GE(many.host_us, 0.8 * many.device_us);
  EXPECT_LT(one.device_us, 4 * many.device_us / 16);
  const auto since = [](auto begin) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  };
  double staging = 0, running = 0, checking = 0;
  for (int i = 0; i < 20; ++i) {
    auto begin = std::chrono::steady_clock::now();
    stage(*bench, i % 4, data);
    staging += since(begin);
    begin = std::chrono::steady_clock::now();
    timed(*bench, kernel, {i % 4});
    running += since(begin);
    begin = std::chrono::steady_clock::now();
    EXPECT_EQ(check(*bench, i % 4, data).outputs.at(0).wrong, 0);
    checking += since(begin);
  }
  std::printf("[ note     ] one cycle of 64 MB in, 64 MB out: stage %.0f us, run %.0f us, check %.0f us\n",
              staging / 20, running / 20, checking / 20);
}

TEST_P(GpuTimingTest, EmptyKernelsAreTimedWithoutTheHostsLaunchCost) {
  auto bench = open(affine_layout(64));
  const auto kernel =
      loaded(*bench, "extern \"C\" __global__ void k(const float* x, float* y) { if (threadIdx.x == 0) y[0] = x[0]; }",
             plan(1), {});
  timed(*bench, kernel);
  const auto batch = timed(*bench, kernel, std::vector<int>(100, 0));
  std::printf("[ note     ] a nearly empty kernel: %.2f us in a batch of 100\n", batch.device_us / 100);
  EXPECT_LT(batch.device_us / 100, 10);
}

TEST_P(GpuTimingTest, CandidatesPerSecondThroughCompileLoadStageRunCheck) {
  constexpr std::int64_t n = 1 << 24;
  auto bench = open(affine_layout(n, 4));
  const auto data = affine_data(n);
  stage(*bench, 0, data);
  double compiling = 0, judging = 0;
  constexpr int kCandidates = 20;
  for (int c = 0; c < kCandidates; ++c) {
    auto begin = std::chrono::steady_clock::now();
    const auto artifact = compiled(std::string(kAffine) + "// candidate " + std::to_string(c), {{"n", n}});
    compiling += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    begin = std::chrono::steady_clock::now();
    const auto made = bench->load(artifact, plan(n / 256), {{"n", n}});
    ASSERT_TRUE(made);
    const auto kernel = std::get<KernelHandle>(*made);
    for (int slot = 0; slot < 4; ++slot) stage(*bench, slot, data);
    for (int repeat = 0; repeat < 10; ++repeat) timed(*bench, kernel, {0, 1, 2, 3});
    for (int slot = 0; slot < 4; ++slot) EXPECT_EQ(check(*bench, slot, data).outputs.at(0).wrong, 0);
    bench->unload(kernel);
    judging += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  std::printf(
      "[ note     ] per candidate: compile %.1f ms (one process), load + 4 stages + 40 timed calls + 4 checks %.1f "
      "ms\n",
      compiling / kCandidates, judging / kCandidates);
}

#ifdef KERF_FAKE_GPU
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuTimingTest);
#else
INSTANTIATE_TEST_SUITE_P(On, GpuTimingTest, testing::Values(kFake), rig_name);
#endif
INSTANTIATE_TEST_SUITE_P(On, CudaCompareTest, testing::Values(kFake), rig_name);
INSTANTIATE_TEST_SUITE_P(On, CudaOracleTest, testing::Values(kFake), rig_name);

}  // namespace
}  // namespace kerf
