#include "device/opencl/opencl_device.hpp"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "language/opencl_c/opencl_language.hpp"

namespace kerf {
namespace {

using namespace std::chrono_literals;

std::filesystem::path g_self;

struct Environment {
  std::unique_ptr<Sandbox> sandbox = make_sandbox();
  SystemClock clock;
  OpenclOptions options;
  std::unique_ptr<Language> language;
  std::unique_ptr<Device> device;
  std::string missing;

  Environment() {
    char name[] = "/tmp/kerf-opencl-device-XXXXXX";
    options.self = g_self;
    options.cache = ::mkdtemp(name);
    options.sandbox = sandbox.get();
    options.clock = &clock;
    options.compile_jobs = 1;
    // Which driver to test: OCL_ICD_FILENAMES=libnvidia-opencl.so.1 tests NVIDIA's.
    for (const char* variable : {"PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"}) {
      if (const char* value = ::getenv(variable)) options.environment[variable] = value;
    }
    auto made_language = make_opencl_language(options);
    auto made_device = make_opencl_device(options);
    if (made_language) language = *std::move(made_language);
    if (made_device) device = *std::move(made_device);
    if (!made_device) missing = made_device.error().message;
  }
  ~Environment() {
    device.reset();
    language.reset();
    std::error_code ignored;
    std::filesystem::remove_all(options.cache, ignored);
  }
};

Environment& environment() {
  static Environment shared;
  return shared;
}

/// The task y = 2 x + 1 over n elements, and what it takes to run kernels on it.
class OpenclDevice : public testing::Test {
 protected:
  static constexpr std::int64_t kN = 4096;

  void SetUp() override {
    if (!environment().device || !environment().language) GTEST_SKIP() << "no OpenCL here: " << environment().missing;
    open(kN);
  }

  void open(std::int64_t n) {
    bench_.reset();
    n_ = n;
    ProblemLayout layout;
    layout.buffers = {{"x", DType::f32, {n}, BufferRole::input}, {"y", DType::f32, {n}, BufferRole::output}};
    layout.slots = 3;
    auto opened = environment().device->open(layout);
    ASSERT_TRUE(opened) << opened.error().message;
    bench_ = *std::move(opened);
    data_ = {};
    data_.id = static_cast<std::uint64_t>(n);
    data_.inputs = {ir::make_tensor(DType::f32, {n})};
    data_.expected = {ir::make_tensor(DType::f64, {n})};
    data_.bound = {ir::make_tensor(DType::f64, {n})};
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i % 1000) - 500;
      data_.inputs[0].as<float>()[i] = static_cast<float>(x);
      data_.expected[0].as<double>()[i] = 2 * x + 1;
      data_.bound[0].as<double>()[i] = 1e-4;
    }
  }

  static Launch launch(std::vector<Dim> grid, std::vector<Dim> block, std::vector<std::string> args = {"x", "y"},
                       std::string kernel = "k") {
    Launch one;
    one.kernel = std::move(kernel);
    one.grid = std::move(grid);
    one.block = std::move(block);
    one.args = std::move(args);
    return one;
  }

  std::variant<KernelHandle, Fault> load(const std::string& source, const LaunchPlan& plan) {
    auto compiled = environment().language->compile({source, {{"n", n_}}, "", {}, 30000ms});
    if (!compiled || !std::holds_alternative<Artifact>(*compiled)) {
      ADD_FAILURE() << (compiled ? std::get<CompileFailed>(*compiled).log : compiled.error().message);
      return Fault{};
    }
    auto loaded = bench_->load(std::get<Artifact>(*compiled), plan, {{"n", n_}});
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return Fault{};
    }
    return *std::move(loaded);
  }
  std::string load_fault(const std::string& source, const LaunchPlan& plan) {
    const auto loaded = load(source, plan);
    if (const auto* fault = std::get_if<Fault>(&loaded)) return fault->message;
    ADD_FAILURE() << "it was loaded";
    return "";
  }
  RunOutcome run(const std::string& source, const LaunchPlan& plan, std::vector<int> slots = {0},
                 std::chrono::milliseconds limit = 10000ms) {
    const auto loaded = load(source, plan);
    if (const auto* fault = std::get_if<Fault>(&loaded)) {
      ADD_FAILURE() << "not loaded: " << fault->message;
      return *fault;
    }
    for (const int slot : slots) {
      auto staged = bench_->stage(slot, data_, Poison::a);
      if (!staged) ADD_FAILURE() << staged.error().message;
    }
    auto outcome = bench_->run(std::get<KernelHandle>(loaded), slots, limit);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return Fault{};
    }
    return *std::move(outcome);
  }
  SlotReport check(int slot = 0) {
    auto report = bench_->check(slot, data_);
    if (report) return *std::move(report);
    ADD_FAILURE() << report.error().message;
    return {};
  }
  void expect_right(const RunOutcome& outcome, int slot = 0) {
    if (const auto* fault = std::get_if<Fault>(&outcome)) FAIL() << fault->message;
    EXPECT_GT(std::get<Timing>(outcome).host_us, 0);
    const auto report = check(slot);
    ASSERT_EQ(report.outputs.size(), 1u);
    EXPECT_EQ(report.outputs[0].wrong, 0);
    EXPECT_EQ(report.outputs[0].compared, n_);
    EXPECT_TRUE(report.changed_inputs.empty());
    EXPECT_TRUE(report.broken_red_zones.empty());
  }
  Fault fault_of(const RunOutcome& outcome) {
    if (const auto* fault = std::get_if<Fault>(&outcome)) return *fault;
    ADD_FAILURE() << "it ran";
    return {};
  }

  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  std::int64_t n_ = 0;
  std::unique_ptr<Bench> bench_;
  oracle::DataSet data_;
};

constexpr const char* kAxpy =
    "__kernel void k(__global const float* x, __global float* y) {\n"
    "  y[get_global_id(0)] = 2 * x[get_global_id(0)] + 1;\n}\n";

TEST_F(OpenclDevice, FactsNameTheDevice) {
  const auto& facts = environment().device->facts();
  EXPECT_EQ(facts.id, "opencl:0");
  EXPECT_FALSE(facts.name.empty());
  EXPECT_TRUE(has(facts.arch, "OpenCL C"));
  EXPECT_GT(facts.compute_units, 0);
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_GT(facts.cache_bytes, 0);
  EXPECT_GT(facts.max_threads_per_block, 0);
  if (has(facts.driver, "Portable Computing Language")) {
    EXPECT_EQ(facts.runs_on_host, has(facts.name, "pthread") || has(facts.name, "cpu"));
  }
}

TEST_F(OpenclDevice, RunsAKernelOnEverySlotOfABatch) {
  const auto outcome = run(kAxpy, {{}, {launch({kN / 64}, {64})}}, {2, 0, 1});
  for (int slot = 0; slot < 3; ++slot) expect_right(outcome, slot);
}

TEST_F(OpenclDevice, RunsGridsOnBothSidesOfTheDriversSmallGridLimit) {
  for (const std::int64_t n : {64LL, 65472LL, 65536LL, 1LL << 21}) {
    open(n);
    expect_right(run(kAxpy, {{}, {launch({n / 64}, {64})}}));
  }
}

TEST_F(OpenclDevice, LaterLaunchesSeeWhatEarlierOnesWroteToScratch) {
  LaunchPlan plan;
  plan.scratch = {{"t", DType::f32, {Dim::symbol("n")}}};
  plan.launches = {launch({Dim::symbol("n")}, {1}, {"x", "t"}, "twice"),
                   launch({kN / 32}, {32}, {"t", "y"}, "plus_one")};
  expect_right(
      run("__kernel void twice(__global const float* x, __global float* t) {\n"
          "  t[get_global_id(0)] = 2 * x[get_global_id(0)]; }\n"
          "__kernel void plus_one(__global const float* t, __global float* y) {\n"
          "  y[get_global_id(0)] = t[n - 1 - (n - 1 - get_global_id(0))] + 1; }\n",
          plan));
}

TEST_F(OpenclDevice, GridAndBlockMayHaveTwoAndThreeDimensions) {
  expect_right(
      run("__kernel void k(__global const float* x, __global float* y) {\n"
          "  const int i = get_global_id(1) * 64 + get_global_id(0);\n"
          "  if (get_local_size(0) == 8 && get_local_size(1) == 4 && get_num_groups(1) == 16) y[i] = 2 * x[i] + 1; }\n",
          {{}, {launch({8, 16}, {8, 4})}}));
  expect_right(
      run("__kernel void k(__global const float* x, __global float* y) {\n"
          "  const int i = (get_global_id(2) * 16 + get_global_id(1)) * 16 + get_global_id(0);\n"
          "  y[i] = 2 * x[i] + 1; }\n",
          {{}, {launch({2, 4, 8}, {8, 4, 2})}}));
}

TEST_F(OpenclDevice, LocalMemoryAndBarriersWork) {
  expect_right(
      run("__kernel void k(__global const float* x, __global float* y) {\n"
          "  __local float t[128];\n"
          "  const int l = get_local_id(0), g = get_group_id(0) * 128;\n"
          "  t[127 - l] = x[g + l];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  y[g + l] = 2 * t[127 - l] + 1; }\n",
          {{}, {launch({kN / 128}, {128})}}));
}

TEST_F(OpenclDevice, RunsAgainAfterPoisonInAnotherPattern) {
  const auto loaded = load(kAxpy, {{}, {launch({kN / 64}, {64})}});
  ASSERT_TRUE(std::holds_alternative<KernelHandle>(loaded));
  for (const auto poison : {Poison::a, Poison::b, Poison::a}) {
    ASSERT_TRUE(bench_->stage(0, data_, poison));
    const std::vector<int> slots{0};
    const auto outcome = bench_->run(std::get<KernelHandle>(loaded), slots, 10000ms);
    ASSERT_TRUE(outcome);
    expect_right(*outcome);
  }
}

TEST_F(OpenclDevice, AWorkGroupBeyondTheDevicesLimitIsRefusedWithTheLimit) {
  const auto limit = environment().device->facts().max_threads_per_block;
  const auto fault = load_fault(kAxpy, {{}, {launch({1}, {2 * limit})}});
  EXPECT_TRUE(has(fault, "too large")) << fault;
  EXPECT_TRUE(has(fault, std::to_string(limit))) << fault;
}

TEST_F(OpenclDevice, WrongArgumentsAreRefusedInWords) {
  EXPECT_PRED2(has, load_fault(kAxpy, {{}, {launch({1}, {1}, {"x"})}}), "takes 2 arguments, the launch passes 1");
  EXPECT_PRED2(has, load_fault(kAxpy, {{}, {launch({1}, {1}, {"x", "y"}, "other")}}), "no kernel 'other'");
  for (const char* type : {"int", "long", "float2"}) {
    const auto source = std::string("__kernel void k(__global float* x, ") + type + " v) { x[sizeof(v)] = 1; }";
    EXPECT_PRED2(has, load_fault(source, {{}, {launch({1}, {1})}}), "is a plain value") << type;
  }
  EXPECT_PRED2(has,
               load_fault("__kernel void k(__global float* x, __local float* t) { t[0] = 1; x[0] = t[0]; }",
                          {{}, {launch({1}, {1})}}),
               "local memory");
  EXPECT_PRED2(has,
               load_fault("__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
                          "void k(__global float* x, __global float* y) { y[0] = x[0]; }",
                          {{}, {launch({1}, {32})}}),
               "requires work-groups of 64x1x1");
}

TEST_F(OpenclDevice, AWriteThroughANullPointerIsACrash) {
  const auto fault =
      fault_of(run("__kernel void k(__global const float* x, __global float* y) {\n"
                   "  volatile __global float* p = (volatile __global float*)(ulong)(x[0] == 1e30f);\n"
                   "  p[get_global_id(0)] = 1; y[0] = p[0]; }\n",
                   {{}, {launch({1}, {1})}}));
  EXPECT_EQ(fault.kind, Fault::Kind::crashed);
  EXPECT_FALSE(fault.message.empty());
  expect_right(run(kAxpy, {{}, {launch({kN / 64}, {64})}}));
}

TEST_F(OpenclDevice, AnEndlessLoopIsKilledAtItsLimit) {
  const auto fault =
      fault_of(run("__kernel void k(__global const float* x, volatile __global float* y) {\n"
                   "  while (y[0] != 12345.0f) y[1] = y[1] * 0.5f; }\n",
                   {{}, {launch({1}, {1})}}, {0}, 300ms));
  EXPECT_EQ(fault.kind, Fault::Kind::timed_out);
  expect_right(run(kAxpy, {{}, {launch({kN / 64}, {64})}}));
}

TEST_F(OpenclDevice, AWriteBehindTheOutputIsFound) {
  run("__kernel void k(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 2 * x[get_global_id(0)] + 1;\n  if (get_global_id(0) == 0) y[n] = 1; }\n",
      {{}, {launch({kN / 64}, {64})}});
  EXPECT_EQ(check().broken_red_zones, std::vector<std::string>{"y"});
}

TEST_F(OpenclDevice, AChangedInputIsFound) {
  run("__kernel void k(__global float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 2 * x[get_global_id(0)] + 1;\n  x[get_global_id(0)] = 0; }\n",
      {{}, {launch({kN / 64}, {64})}});
  EXPECT_EQ(check().changed_inputs, std::vector<std::string>{"x"});
}

#if defined(__x86_64__)
TEST_F(OpenclDevice, SystemCallsOfACandidateAreRefused) {
  // Assembly is refused by the static budget; were it not, this is what the running kernel could do with it. 24 is
  // sched_yield, which computing may call and which returns 0; 110 is getppid; 57 is fork; 41 is socket.
  if (const auto probed = probe_opencl_device(environment().options); !probed || probed->type != "cpu") {
    GTEST_SKIP() << "candidates do not run on this processor";
  }
  if (!sandbox_abilities().seccomp) GTEST_SKIP() << "this system has no seccomp";
  const auto source = [](int number) {
    return "__kernel void k(__global const float* x, __global float* y) {\n  long result = " + std::to_string(number) +
           ";\n  if (get_global_id(0) == 0) __asm__ volatile(\"syscall\" : \"+a\"(result) : \"D\"(1L), \"S\"(1L), "
           "\"d\"(0L) : \"rcx\", \"r11\", "
           "\"memory\");\n"
           "  y[get_global_id(0)] = 2 * x[get_global_id(0)] + 1 + (get_global_id(0) == 0 && result != 0); }\n";
  };
  const auto control = run(source(24), {{}, {launch({kN / 64}, {64})}});
  ASSERT_TRUE(std::holds_alternative<Timing>(control)) << std::get<Fault>(control).message;
  if (check().outputs.at(0).wrong > 0) GTEST_SKIP() << "this driver does not run inline assembly";
  for (const int number : {110, 57, 41}) {
    const auto fault = fault_of(run(source(number), {{}, {launch({kN / 64}, {64})}}));
    EXPECT_EQ(fault.kind, Fault::Kind::forbidden) << fault.message;
  }
}
#endif

TEST_F(OpenclDevice, ADeviceThatDoesNotExistIsNamed) {
  auto options = environment().options;
  options.device = 99;
  const auto made = make_opencl_device(options);
  ASSERT_FALSE(made);
  EXPECT_PRED2(has, made.error().message, "opencl:99 does not exist");
}

TEST(OpenclDiagnosis, SaysWhatIsThereOrHowToGetIt) {
  const auto findings = diagnose_opencl(environment().options);
  ASSERT_FALSE(findings.empty());
  for (const auto& finding : findings) EXPECT_NE(finding.found.empty(), finding.remedy.empty());
}

TEST(OpenclDiagnosis, WithoutAPlatformTheRemedyIsGiven) {
  auto options = environment().options;
  options.environment["OCL_ICD_VENDORS"] = "/nonexistent";
  const auto findings = diagnose_opencl(options);
  ASSERT_FALSE(findings.empty());
  if (!findings[0].found.empty()) GTEST_SKIP() << "this loader finds drivers without OCL_ICD_VENDORS";
  EXPECT_NE(findings[0].remedy.find("apt install"), std::string::npos) << findings[0].remedy;
}

}  // namespace
}  // namespace kerf

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "worker") {
    const std::vector<std::string> args(argv + 3, argv + argc);
    const std::string kind = argv[2];
    if (kind == "opencl-probe") return kerf::opencl_probe_main(args);
    if (kind == "opencl-compile") return kerf::opencl_compile_main(args);
    return kerf::opencl_worker_main(args);
  }
  kerf::g_self = std::filesystem::read_symlink("/proc/self/exe");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
