#pragma once
// What tests of the CUDA bench share: a language and a device that go together (a real GPU, or the fake driver with
// KERF_FAKE_GPU), data of y = 2 x + 1, and a fixture whose steps fail the test when the bench itself fails.

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/test_paths.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/fake/fake_language.hpp"
#include "device/device_oracle.hpp"
#include "language/cuda_cpp/cuda_language.hpp"
#include "oracle/compare.hpp"
#include "oracle/inputs.hpp"

namespace kerf {

using std::chrono::milliseconds;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A language and a device that go together; null with the reason where they are not available.
struct Rig {
  std::unique_ptr<Language> language;
  std::unique_ptr<Device> device;
  std::string missing;
  std::string broken;  ///< everything is there and it does not work
};

inline std::filesystem::path self() { return std::filesystem::read_symlink("/proc/self/exe"); }

inline Rig make_rig(bool fake) {
  Rig rig;
  CudaDeviceOptions options;
  options.self = self();
  options.secret = 0x5eed5eed12345678;
  options.cache = self().parent_path() / "judge-cache";
  if (fake) {
    const std::filesystem::path shim = source_folder() / "src/device/cuda/fake/kernel_shim.hpp";
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

inline Rig& rig(bool fake) {
  static std::map<bool, Rig> rigs;
  const auto it = rigs.find(fake);
  return it != rigs.end() ? it->second : rigs.emplace(fake, make_rig(fake)).first->second;
}

inline std::uint64_t next_id() {
  static std::uint64_t id = 0;
  return ++id;
}

/// y = 2 x + 1 over n floats, with its data.
inline oracle::DataSet affine_data(std::int64_t n, unsigned seed = 1) {
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

inline ProblemLayout affine_layout(std::int64_t n, int slots = 1) {
  return {{{"x", DType::f32, {n}, BufferRole::input}, {"y", DType::f32, {n}, BufferRole::output}}, slots};
}

inline constexpr const char* kAffine =
    "extern \"C\" __global__ void k(const float* x, float* y) {\n"
    "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i] + 1;\n}\n";

inline LaunchPlan plan(std::int64_t blocks, std::vector<std::string> args = {"x", "y"}, std::string kernel = "k",
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

inline std::string rig_name(const testing::TestParamInfo<bool>& info) { return info.param ? "fake" : "gpu"; }
#ifdef KERF_FAKE_GPU
inline constexpr bool kFake = true;
#else
inline constexpr bool kFake = false;
#endif

}  // namespace kerf
