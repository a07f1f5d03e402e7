// The CUDA bench, in two programs: over the fake driver (KERF_FAKE_GPU; everywhere; host memory, g++), and on a real
// GPU, where it skips visibly without one. The programs are self-contained: each is its own worker, and the second can
// be copied to a GPU machine. KERF_NVRTC_DIR in the environment names the NVRTC folder where no toolkit is installed.

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/fake/fake_language.hpp"
#include "device/device_oracle.hpp"
#include "language/cuda_cpp/cuda_language.hpp"
#include "oracle/compare.hpp"
#include "oracle/inputs.hpp"

namespace kerf {
namespace {

using std::chrono::milliseconds;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A language and a device that go together; null with the reason where they are not available.
struct Rig {
  std::unique_ptr<Language> language;
  std::unique_ptr<Device> device;
  std::string missing;
  std::string broken;  ///< everything is there and it does not work
};

std::filesystem::path self() { return std::filesystem::read_symlink("/proc/self/exe"); }

Rig make_rig(bool fake) {
  Rig rig;
  CudaDeviceOptions options;
  options.self = self();
  options.secret = 0x5eed5eed12345678;
  options.cache = self().parent_path() / "judge-cache";
  if (fake) {
    const std::filesystem::path shim = KERF_SOURCE_DIR "/src/device/cuda/fake/kernel_shim.hpp";
    std::filesystem::path driver = self().parent_path() / "libkerf_fake_cuda.so";
    if (!std::filesystem::exists(shim) || !std::filesystem::exists(driver)) {
      rig.missing = "the fake driver is not beside the program";
      return rig;
    }
    rig.language = std::make_unique<FakeCudaLanguage>(shim);
    options.driver_library = driver.string();
    options.data_fraction = 0.002;  // about 2 MB: data sets must give way to each other
  } else {
    for (const auto* name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PATH", "CUDA_VISIBLE_DEVICES"}) {
      if (const char* value = std::getenv(name)) options.environment[name] = value;
    }
    if (const auto devices = probe_cuda_devices(options); !devices) {
      rig.missing = devices.error().message;
      return rig;
    }
    CudaLanguageOptions language;
    language.self = options.self;
    language.search.environment = options.environment;
    if (*KERF_NVRTC_DIR) language.search.folders.emplace_back(KERF_NVRTC_DIR);
    if (const char* folder = std::getenv("KERF_NVRTC_DIR")) language.search.folders.emplace_back(folder);
    auto made = make_cuda_language(language);
    if (!made) {
      rig.missing = made.error().message;
      return rig;
    }
    rig.language = *std::move(made);
  }
  options.language = rig.language.get();
  auto device = make_cuda_device(options);
  if (device) {
    rig.device = *std::move(device);
  } else {
    rig.broken = device.error().message;
  }
  return rig;
}

Rig& rig(bool fake) {
  static std::map<bool, Rig> rigs;
  const auto it = rigs.find(fake);
  return it != rigs.end() ? it->second : rigs.emplace(fake, make_rig(fake)).first->second;
}

std::uint64_t next_id() {
  static std::uint64_t id = 0;
  return ++id;
}

/// y = 2 x + 1 over n floats, with its data.
oracle::DataSet affine_data(std::int64_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  oracle::DataSet data;
  data.id = next_id();
  data.inputs.push_back(ir::make_tensor(DType::f32, {n}));
  data.expected.push_back(ir::make_tensor(DType::f64, {n}));
  data.bound.push_back(ir::make_tensor(DType::f64, {n}));
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = uniform(random);
    data.inputs[0].as<float>()[i] = x;
    data.expected[0].as<double>()[i] = 2.0 * static_cast<double>(x) + 1;
    data.bound[0].as<double>()[i] = 3 * 0x1p-24;
  }
  return data;
}

ProblemLayout affine_layout(std::int64_t n, int slots = 1) {
  return {{{"x", DType::f32, {n}, BufferRole::input}, {"y", DType::f32, {n}, BufferRole::output}}, slots};
}

constexpr const char* kAffine =
    "extern \"C\" __global__ void k(const float* x, float* y) {\n"
    "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i] + 1;\n}\n";

LaunchPlan plan(std::int64_t blocks, std::vector<std::string> args = {"x", "y"}, std::string kernel = "k",
                std::int64_t threads = 256, std::int64_t shared = 0) {
  LaunchPlan plan;
  plan.launches.push_back({std::move(kernel), {Dim(blocks)}, {Dim(threads)}, Dim(shared), std::move(args)});
  return plan;
}

class CudaBenchTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_EQ(rig(GetParam()).broken, "");
    if (!rig(GetParam()).device) GTEST_SKIP() << rig(GetParam()).missing;
  }
  static bool fake() { return GetParam(); }

  Artifact compiled(const std::string& source, const Bindings& constants) {
    CompileRequest request;
    request.source = source;
    request.constants = constants;
    request.arch = rig(GetParam()).device->facts().arch;
    auto outcome = rig(GetParam()).language->compile(request);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return {};
    }
    if (const auto* failed = std::get_if<CompileFailed>(&*outcome)) {
      ADD_FAILURE() << failed->log;
      return {};
    }
    return std::get<Artifact>(*std::move(outcome));
  }
  std::unique_ptr<Bench> open(const ProblemLayout& layout) {
    auto bench = rig(GetParam()).device->open(layout);
    if (!bench) {
      ADD_FAILURE() << bench.error().message;
      return nullptr;
    }
    return *std::move(bench);
  }
  std::variant<KernelHandle, Fault> load(Bench& bench, const std::string& source, const LaunchPlan& launch_plan,
                                         const Bindings& constants) {
    auto loaded = bench.load(compiled(source, constants), launch_plan, constants);
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return Fault{};
    }
    return *std::move(loaded);
  }
  KernelHandle loaded(Bench& bench, const std::string& source, const LaunchPlan& launch_plan,
                      const Bindings& constants) {
    const auto outcome = load(bench, source, launch_plan, constants);
    if (const auto* fault = std::get_if<Fault>(&outcome)) {
      ADD_FAILURE() << fault->message;
      return -1;
    }
    return std::get<KernelHandle>(outcome);
  }
  static void stage(Bench& bench, int slot, const oracle::DataSet& data, Poison poison = Poison::a) {
    const auto staged = bench.stage(slot, data, poison);
    ASSERT_TRUE(staged) << staged.error().message;
  }
  static RunOutcome run(Bench& bench, KernelHandle kernel, std::vector<int> slots = {0},
                        milliseconds limit = milliseconds(20000)) {
    auto outcome = bench.run(kernel, slots, limit);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return Fault{};
    }
    return *std::move(outcome);
  }
  static Timing timed(Bench& bench, KernelHandle kernel, std::vector<int> slots = {0}) {
    const auto outcome = run(bench, kernel, std::move(slots));
    if (const auto* fault = std::get_if<Fault>(&outcome)) {
      ADD_FAILURE() << fault->message;
      return {};
    }
    return std::get<Timing>(outcome);
  }
  static SlotReport check(Bench& bench, int slot, const oracle::DataSet& data) {
    auto report = bench.check(slot, data);
    if (!report) {
      ADD_FAILURE() << report.error().message;
      return {};
    }
    return *std::move(report);
  }
  /// Stage, run, check of a kernel over affine data.
  SlotReport judged(const std::string& source, std::int64_t n, Poison poison = Poison::a) {
    const auto data = affine_data(n);
    auto bench = open(affine_layout(n));
    const auto kernel = loaded(*bench, source, plan((n + 255) / 256), {{"n", n}});
    stage(*bench, 0, data, poison);
    timed(*bench, kernel);
    return check(*bench, 0, data);
  }
};

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

TEST_P(CudaBenchTest, DataSetsThatDoNotFitTogetherComeBackWhenNeeded) {
  const std::int64_t n = 1 << 15;  // 0.5 MB a data set; the bench on the fake device keeps four
  auto bench = open(affine_layout(n));
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
}

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
    const auto there = oracle::compare(dtype, data.inputs[0].bytes, data.expected[0], data.bound[0], nan_is_free);
    EXPECT_EQ(here.total, there.total);
    EXPECT_EQ(here.compared, there.compared);
    EXPECT_EQ(here.wrong, there.wrong);
    EXPECT_EQ(here.squares_count, there.squares_count);
    EXPECT_NEAR(here.sum_squares, there.sum_squares, 1e-6 * there.sum_squares);
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
  DeviceRecipe recipe(std::uint64_t seed, oracle::Family family) {
    DeviceRecipe recipe;
    recipe.inputs.push_back({family, std::nullopt, seed});
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
  const auto made = maker->make_on_device(data, recipe(17, oracle::Family::spikes));
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
  const auto drawn = oracle::draw({"x", DType::f32, {Dim(n)}}, {}, oracle::Family::spikes, std::nullopt, 17);
  ASSERT_TRUE(drawn);
  EXPECT_EQ(report.outputs[0].worst_expected, 2.0 * static_cast<double>(drawn->as<float>()[4000]) + 1);
  EXPECT_GT(report.outputs[0].worst_bound, 0);
}

TEST_P(CudaOracleTest, TheRecipeIsFollowedAgainInAFreshWorker) {
  auto bench = open(layout());
  auto* maker = dynamic_cast<DeviceOracle*>(bench.get());
  oracle::DataSet data;
  data.id = next_id();
  ASSERT_TRUE(maker->make_on_device(data, recipe(3, oracle::Family::normal)));
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
    for (const auto family : oracle::kAllFamilies) draws.push_back({family, std::nullopt, 5});
    for (const auto kind : {Kind::normal, Kind::uniform, Kind::integers, Kind::constant}) {
      InputDistribution given;
      given.kind = kind;
      given.a = -3.7;
      given.b = 9.1;
      if (kind == Kind::integers) given.a = -2, given.b = 5;
      draws.push_back({oracle::Family::normal, given, 99});
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
      const auto there = oracle::draw({"x", dtype, {Dim(n)}}, {}, draw.family, draw.given, draw.seed);
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

std::string rig_name(const testing::TestParamInfo<bool>& info) { return info.param ? "fake" : "gpu"; }
#ifdef KERF_FAKE_GPU
constexpr bool kFake = true;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuTimingTest);
#else
constexpr bool kFake = false;
INSTANTIATE_TEST_SUITE_P(On, GpuTimingTest, testing::Values(kFake), rig_name);
#endif
INSTANTIATE_TEST_SUITE_P(On, CudaBenchTest, testing::Values(kFake), rig_name);
INSTANTIATE_TEST_SUITE_P(On, CudaCompareTest, testing::Values(kFake), rig_name);
INSTANTIATE_TEST_SUITE_P(On, CudaOracleTest, testing::Values(kFake), rig_name);

}  // namespace
}  // namespace kerf

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "worker") {
    const std::string_view kind = argv[2];
    const std::vector<std::string> args(argv + 3, argv + argc);
    if (kind == "nvrtc") return kerf::nvrtc_worker_main(args);
    if (kind == "cuda") return kerf::cuda_worker_main(args);
    if (kind == "cuda-probe") return kerf::cuda_probe_main(args);
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
