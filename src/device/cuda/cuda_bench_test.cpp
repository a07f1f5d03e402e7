// The CUDA bench, in two programs: over the fake driver (KERF_FAKE_GPU; everywhere; host memory, g++), and on a real
// GPU, where it skips visibly without one. The programs are self-contained: each is its own worker, and the second can
// be copied to a GPU machine. KERF_NVRTC_DIR in the environment names the NVRTC folder where no toolkit is installed.

#include "device/cuda/cuda_bench_fixture.hpp"

namespace kerf {
namespace {

TEST_P(CudaBenchTest, ARightKernelIsRight) {
  for (const auto poison : {Poison::a, Poison::b}) {
    const auto report = judged(kAffine, 1003, poison);
    ASSERT_EQ(report.outputs.size(), 1u);
    EXPECT_EQ(report.outputs[0].total, 1003);
    EXPECT_EQ(report.outputs[0].compared, 1003);
    EXPECT_EQ(report.outputs[0].wrong, 0);
    EXPECT_LE(report.outputs[0].worst_ratio, 1);
    EXPECT_TRUE(report.changed_inputs.empty());
    EXPECT_TRUE(report.broken_red_zones.empty());
  }
}

TEST_P(CudaBenchTest, AWrongElementIsFoundWithItsPlace) {
  const auto report = judged(
      "extern \"C\" __global__ void k(const float* x, float* y) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  if (i < n) y[i] = i == 777 ? 99.0f : 2 * x[i] + 1;\n}\n",
      1003);
  EXPECT_EQ(report.outputs.at(0).wrong, 1);
  EXPECT_EQ(report.outputs.at(0).worst, 777);
  EXPECT_EQ(report.outputs.at(0).worst_actual, 99);
  EXPECT_GT(report.outputs.at(0).worst_ratio, 1000);
}

TEST_P(CudaBenchTest, AnElementThatIsNeverWrittenIsPoisonAndWrong) {
  const auto report = judged(
      "extern \"C\" __global__ void k(const float* x, float* y) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  if (i < n - 3) y[i] = 2 * x[i] + 1;\n}\n",
      1003, Poison::b);
  EXPECT_EQ(report.outputs.at(0).wrong, 3);
  EXPECT_EQ(report.outputs.at(0).worst, 1000);
  EXPECT_EQ(report.outputs.at(0).worst_ratio, kInfinity);
}

TEST_P(CudaBenchTest, WritesBesideABufferBreakItsRedZone) {
  const auto after = judged(
      "extern \"C\" __global__ void k(const float* x, float* y) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  if (i < n) y[i] = 2 * x[i] + 1;\n  if (i == 0) y[n] = 7;\n}\n",
      1003);
  EXPECT_EQ(after.outputs.at(0).wrong, 0);
  EXPECT_EQ(after.broken_red_zones, std::vector<std::string>{"y"});
  const auto before = judged(
      "extern \"C\" __global__ void k(float* x, float* y) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  if (i < n) y[i] = 2 * x[i] + 1;\n  if (i == 0) x[-200000] = 7;\n}\n",
      1003);
  EXPECT_EQ(before.broken_red_zones, std::vector<std::string>{"x"});
  EXPECT_TRUE(before.changed_inputs.empty());
}

TEST_P(CudaBenchTest, AWriteAMegabyteBehindABufferBreaksItsRedZoneAndTheOtherKernelsSurvive) {
  constexpr std::int64_t n = 1003;
  const auto data = affine_data(n);
  auto bench = open(affine_layout(n));
  const auto good = loaded(*bench, kAffine, plan(4), {{"n", n}});
  const auto bad = loaded(*bench,
                          "extern \"C\" __global__ void k(const float* x, float* y) {\n"
                          "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
                          "  if (i < n) y[i] = 2 * x[i] + 1;\n  if (i == 0) y[n + (1 << 18)] = 1;\n}\n",
                          plan(4), {{"n", n}});
  stage(*bench, 0, data);
  timed(*bench, bad);
  const auto report = check(*bench, 0, data);
  EXPECT_EQ(report.outputs.at(0).wrong, 0);
  EXPECT_EQ(report.broken_red_zones, std::vector<std::string>{"y"});
  EXPECT_TRUE(bench->read_output(0, 0));
  bench->unload(bad);
  const auto next = loaded(*bench, kAffine, plan(4), {{"n", n}});  // in a fresh worker, which has `good` too
  for (const auto kernel : {good, next}) {
    stage(*bench, 0, data);
    timed(*bench, kernel);
    const auto clean = check(*bench, 0, data);
    EXPECT_EQ(clean.outputs.at(0).wrong, 0);
    EXPECT_TRUE(clean.broken_red_zones.empty());
  }
}

TEST_P(CudaBenchTest, AChangedInputIsNamed) {
  const auto report = judged(
      "extern \"C\" __global__ void k(float* x, float* y) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  if (i < n) { y[i] = 2 * x[i] + 1; if (i == n - 1) x[i] += 1; }\n}\n",
      1003);
  EXPECT_EQ(report.changed_inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(report.outputs.at(0).wrong, 0);
}

TEST_P(CudaBenchTest, ScratchCarriesValuesBetweenLaunches) {
  constexpr std::int64_t n = 1003;
  const std::string source =
      "extern \"C\" __global__ void first(const float* x, float* s) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) s[n - 1 - i] = 2 * x[i];\n}\n"
      "extern \"C\" __global__ void second(const float* s, float* y) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = s[n - 1 - i] + 1;\n  if (i == 0 && bad) "
      "((float*)s)[n] = 1;\n}\n";
  for (const std::int64_t bad : {0, 1}) {
    LaunchPlan launches = plan(4, {"x", "s"}, "first");
    launches.launches.push_back(plan(4, {"s", "y"}, "second").launches[0]);
    launches.scratch.push_back({"s", DType::f32, {Dim::symbol("n")}});
    const auto data = affine_data(n);
    auto bench = open(affine_layout(n));
    const auto kernel = loaded(*bench, source, launches, {{"n", n}, {"bad", bad}});
    stage(*bench, 0, data);
    timed(*bench, kernel);
    const auto report = check(*bench, 0, data);
    EXPECT_EQ(report.outputs.at(0).wrong, 0);
    EXPECT_EQ(report.broken_red_zones, bad ? std::vector<std::string>{"s"} : std::vector<std::string>{});
  }
}

TEST_P(CudaBenchTest, ScratchIsPoisonedBeforeACheckedCall) {
  constexpr std::int64_t n = 1003;
  LaunchPlan launches = plan(4, {"x", "s", "y"});
  launches.scratch.push_back({"s", DType::f32, {Dim::symbol("n")}});
  const auto data = affine_data(n);
  auto bench = open(affine_layout(n));
  // Answers from what the previous call left in scratch when it is there.
  const auto kernel = loaded(*bench,
                             "extern \"C\" __global__ void k(const float* x, float* s, float* y) {\n"
                             "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
                             "  if (i < n) { y[i] = s[i] == 5.0f ? 0.0f : 2 * x[i] + 1; s[i] = 5.0f; }\n}\n",
                             launches, {{"n", n}});
  for (int call = 0; call < 2; ++call) {
    stage(*bench, 0, data);
    timed(*bench, kernel);
    EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 0);
  }
  timed(*bench, kernel);  // without staging, the leftovers show
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, n);
}

TEST_P(CudaBenchTest, AnIllegalAddressIsACrashAndTheNextWorkerIsFresh) {
  constexpr std::int64_t n = 1003;
  const auto data = affine_data(n);
  auto bench = open(affine_layout(n));
  const auto good = loaded(*bench, kAffine, plan(4), {{"n", n}});
  const auto bad =
      loaded(*bench, "extern \"C\" __global__ void k(const float* x, float* y) { ((float*)8)[threadIdx.x] = x[0]; }",
             plan(4), {{"n", n}});
  stage(*bench, 0, data);
  const auto outcome = run(*bench, bad);
  ASSERT_TRUE(std::holds_alternative<Fault>(outcome));
  EXPECT_EQ(std::get<Fault>(outcome).kind, Fault::Kind::crashed);
  EXPECT_NE(std::get<Fault>(outcome).message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos)
      << std::get<Fault>(outcome).message;
  const std::vector<int> slots{0};
  EXPECT_FALSE(bench->run(good, slots, milliseconds(1000))) << "handles are void after a fault";
  const auto begin = std::chrono::steady_clock::now();
  const auto again = loaded(*bench, kAffine, plan(4), {{"n", n}});
  stage(*bench, 0, data);
  timed(*bench, again);
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 0);
  std::printf("[ note     ] back at work after %.0f ms (with one compile)\n",
              std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
}

TEST_P(CudaBenchTest, ATrapIsACrash) {
  auto bench = open(affine_layout(64));
  const auto bad =
      loaded(*bench, "extern \"C\" __global__ void k(const float* x, float* y) { if (x[0] != 123.0f) __trap(); }",
             plan(1), {});
  const auto outcome = run(*bench, bad);
  ASSERT_TRUE(std::holds_alternative<Fault>(outcome));
  EXPECT_NE(std::get<Fault>(outcome).message.find("CUDA_ERROR"), std::string::npos) << std::get<Fault>(outcome).message;
}

TEST_P(CudaBenchTest, AnEndlessKernelIsStoppedAtTheLimit) {
  constexpr std::int64_t n = 1003;
  const auto data = affine_data(n);
  auto bench = open(affine_layout(n));
  const auto bad = loaded(
      *bench,
      "extern \"C\" __global__ void k(const float* x, volatile float* y) { while (y[0] != 12345.0f) y[1] = x[0]; }",
      plan(1), {{"n", n}});
  stage(*bench, 0, data);
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = run(*bench, bad, {0}, milliseconds(300));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  ASSERT_TRUE(std::holds_alternative<Fault>(outcome));
  EXPECT_EQ(std::get<Fault>(outcome).kind, Fault::Kind::timed_out);
  const auto good = loaded(*bench, kAffine, plan(4), {{"n", n}});
  stage(*bench, 0, data);
  timed(*bench, good);
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 0);
}

TEST_P(CudaBenchTest, ResourcesTheDeviceDoesNotHaveAreRefusedInWords) {
  auto bench = open(affine_layout(64));
  const auto shared = load(*bench, kAffine, plan(1, {"x", "y"}, "k", 256, 300000), {{"n", 64}});
  ASSERT_TRUE(std::holds_alternative<Fault>(shared));
  EXPECT_NE(std::get<Fault>(shared).message.find("needs 300000 bytes of shared memory, the device gives"),
            std::string::npos)
      << std::get<Fault>(shared).message;
  EXPECT_TRUE(std::holds_alternative<Fault>(load(*bench, kAffine, plan(1, {"x", "y"}, "k", 2048), {{"n", 64}})));
  EXPECT_TRUE(std::holds_alternative<Fault>(load(*bench, kAffine, plan(1LL << 31), {{"n", 64}})));
  EXPECT_TRUE(std::holds_alternative<Fault>(load(*bench, kAffine, plan(1, {"x", "y"}, "missing"), {{"n", 64}})));
  if (!fake()) {
    const auto fewer = load(*bench, kAffine, plan(1, {"x"}), {{"n", 64}});
    ASSERT_TRUE(std::holds_alternative<Fault>(fewer));
    EXPECT_NE(std::get<Fault>(fewer).message.find("has 2 parameters, the launch passes 1"), std::string::npos)
        << std::get<Fault>(fewer).message;
  }
  // The worker is still the same and works.
  const auto data = affine_data(64);
  const auto kernel = loaded(*bench, kAffine, plan(1), {{"n", 64}});
  stage(*bench, 0, data);
  timed(*bench, kernel);
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 0);
}

TEST_P(CudaBenchTest, AnEmptyGridLaunchesNothing) {
  auto bench = open(affine_layout(0));
  const auto data = affine_data(0);
  const auto kernel = loaded(*bench, kAffine, plan(0), {{"n", 0}});
  stage(*bench, 0, data);
  timed(*bench, kernel);
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).total, 0);
}

TEST_P(CudaBenchTest, SlotsAreSeparateAndABatchRunsThemInOrder) {
  constexpr std::int64_t n = 777;
  auto bench = open(affine_layout(n, 3));
  const auto kernel = loaded(*bench, kAffine, plan(4), {{"n", n}});
  std::vector<oracle::DataSet> data;
  for (int slot = 0; slot < 3; ++slot) {
    data.push_back(affine_data(n, 100u + static_cast<unsigned>(slot)));
    stage(*bench, slot, data.back());
  }
  timed(*bench, kernel, {0, 1, 2, 1});
  for (int slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(check(*bench, slot, data[static_cast<std::size_t>(slot)]).outputs.at(0).wrong, 0);
    EXPECT_GT(check(*bench, slot, data[static_cast<std::size_t>((slot + 1) % 3)]).outputs.at(0).wrong, n / 2);
  }
  const auto output = bench->read_output(1, 0);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->as<float>()[5], 2 * data[1].inputs[0].as<float>()[5] + 1);
}

TEST_P(CudaBenchTest, AResultFromElsewhereIsHeldToTheSameRule) {
  const std::int64_t n = 5000;
  auto bench = open(affine_layout(n));
  const auto data = affine_data(n);
  auto result = ir::make_tensor(DType::f32, {n});
  for (std::int64_t i = 0; i < n; ++i) result.as<float>()[i] = static_cast<float>(data.expected[0].as<double>()[i]);
  stage(*bench, 0, data);
  ASSERT_TRUE(bench->write_output(0, 0, result.bytes));
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 0);
  result.as<float>()[4999] += 1;
  ASSERT_TRUE(bench->write_output(0, 0, result.bytes));
  EXPECT_EQ(check(*bench, 0, data).outputs.at(0).wrong, 1);
  EXPECT_FALSE(bench->write_output(0, 1, result.bytes));
  EXPECT_FALSE(bench->write_output(0, 0, std::span(result.bytes).first(8)));
}

TEST_P(CudaBenchTest, AListOfStepsFindsWhatSingleStepsFind) {
  constexpr std::int64_t n = 1000;
  const auto one = affine_data(n, 1), other = affine_data(n, 2);
  auto bench = open(affine_layout(n, 3));
  const auto kernel = loaded(*bench, kAffine, plan(4), {{"n", n}});
  const RunStep call{{0}, milliseconds(20000), false};
  const std::vector<BenchStep> steps{StageStep{0, &one, Poison::a},
                                     call,
                                     CheckStep{0, &one},
                                     StageStep{1, &other, Poison::b},
                                     RunStep{{1}, milliseconds(20000)},
                                     CheckStep{1, &other},
                                     StageStep{2, &one, Poison::a},
                                     CheckStep{2, &one}};
  const auto outcome = bench->follow(kernel, steps);
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto& results = std::get<StepResults>(*outcome);
  ASSERT_EQ(results.runs.size(), 2u);
  ASSERT_EQ(results.checks.size(), 3u);
  for (const Timing& timing : results.runs) EXPECT_GT(timing.device_us, 0);
  EXPECT_EQ(results.checks[0].outputs[0].wrong, 0);
  EXPECT_EQ(results.checks[1].outputs[0].wrong, 0);
  EXPECT_EQ(results.checks[2].outputs[0].wrong, n);  // staged, never run
}

TEST_P(CudaBenchTest, AFaultInAListIsThatOfItsKernel) {
  const auto data = affine_data(100);
  auto bench = open(affine_layout(100));
  const auto kernel = loaded(
      *bench,
      "extern \"C\" __global__ void k(const float* x, volatile float* y) { while (y[0] != 12345.0f) y[1] = x[0]; }",
      plan(1), {{"n", 100}});
  const std::vector<BenchStep> steps{StageStep{0, &data, Poison::a}, RunStep{{0}, milliseconds(300), false},
                                     CheckStep{0, &data}};
  const auto outcome = bench->follow(kernel, steps);
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto* fault = std::get_if<Fault>(&*outcome);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->kind, Fault::Kind::timed_out);
  EXPECT_NE(fault->message.find("300 ms"), std::string::npos) << fault->message;
}

TEST_P(CudaBenchTest, DataSetsThatDoNotFitTogetherComeBackWhenNeeded) {
  const std::int64_t n = 1 << 15;  // 0.5 MB a data set; the bench on the fake device keeps four
  auto bench = open(affine_layout(n, 6));
  const auto kernel = loaded(*bench, kAffine, plan(n / 256), {{"n", n}});
  std::vector<oracle::DataSet> data;
  for (unsigned i = 0; i < 6; ++i) data.push_back(affine_data(n, i));
  for (int round = 0; round < 2; ++round) {
    for (const auto& set : data) {
      stage(*bench, 0, set);
      timed(*bench, kernel);
      EXPECT_EQ(check(*bench, 0, set).outputs.at(0).wrong, 0);
    }
  }
  std::vector<BenchStep> steps;
  for (int i = 0; i < 6; ++i) steps.emplace_back(StageStep{i, &data[static_cast<std::size_t>(i)], Poison::a});
  steps.emplace_back(RunStep{{0, 1, 2, 3, 4, 5}, milliseconds(20000)});
  for (int i = 0; i < 6; ++i) steps.emplace_back(CheckStep{i, &data[static_cast<std::size_t>(i)]});
  const auto outcome = bench->follow(kernel, steps);
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const SlotReport& report : std::get<StepResults>(*outcome).checks) EXPECT_EQ(report.outputs.at(0).wrong, 0);
}

TEST_P(CudaBenchTest, CountersAreReadWhereNcuIsThere) {
  constexpr std::int64_t n = 1 << 20;
  const auto data = affine_data(n);
  auto bench = open(affine_layout(n));
  const auto kernel = loaded(*bench, kAffine, plan(n / 256), {{"n", n}});
  stage(*bench, 0, data);
  const int slot = 0;
  const auto counted = bench->count(kernel, std::span(&slot, 1), milliseconds(20000));
  if (!counted) {
    EXPECT_FALSE(counted.error().message.empty());
    GTEST_SKIP() << counted.error().message;
  }
  for (const char* name : {"gpu_memory_percent", "gpu_compute_percent", "gpu_warps_percent"}) {
    EXPECT_GT(std::get<Counted>(*counted).values.at(name), 0) << name;
    EXPECT_LE(std::get<Counted>(*counted).values.at(name), 100) << name;
  }
  timed(*bench, kernel);  // the bench goes on as before
}

INSTANTIATE_TEST_SUITE_P(On, CudaBenchTest, testing::Values(kFake), rig_name);

}  // namespace
}  // namespace kerf

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "worker") {
    const std::string_view kind = argv[2];
    const std::vector<std::string> args(argv + 3, argv + argc);
    if (kind == "nvrtc") return kerf::nvrtc_worker_main(args);
    if (kind == "cuda") return kerf::cuda_worker_main(args);
    if (kind == "cuda-probe") return kerf::cuda_probe_main(args);
    if (kind == "cuda-calls") return kerf::cuda_calls_main(args);
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
