#include "device/cpu/kernel_fixture.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace kerf {

Language* KernelFixture::language_ = nullptr;
Sandbox* KernelFixture::sandbox_ = nullptr;

namespace {

// One header for all test processes: ctest starts a process per case.
std::filesystem::path test_cache() { return std::filesystem::temp_directory_path() / "kerf-test-cache"; }

}  // namespace

void KernelFixture::SetUpTestSuite() {
  if (language_ != nullptr) return;
  sandbox_ = make_sandbox().release();  // live as long as the process
  CppLanguageOptions options;
  options.sandbox = sandbox_;
  options.cache = test_cache();
  options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  auto language = make_cpp_language(options);
  ASSERT_TRUE(language) << language.error().message;
  language_ = language->release();
}

void KernelFixture::SetUp() {
  ASSERT_NE(language_, nullptr);
  CpuDeviceOptions options;
  options.self = std::filesystem::canonical("/proc/self/exe");
  options.sandbox = sandbox_;
  options.memory_bytes = 512 << 20;
  auto device = make_cpu_device(options);
  ASSERT_TRUE(device) << device.error().message;
  device_ = *std::move(device);
  open();
}

oracle::DataSet KernelFixture::make_data(int seed) {
  oracle::DataSet data;
  data.id = static_cast<std::uint64_t>(seed);
  data.inputs = {ir::make_tensor(DType::f32, {n}), ir::make_tensor(DType::f32, {n})};
  data.expected = {ir::make_tensor(DType::f64, {n})};
  data.bound = {ir::make_tensor(DType::f64, {n})};
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = static_cast<float>(std::sin(static_cast<double>(i * seed)));
    const float w = static_cast<float>(i % 17) + static_cast<float>(seed);
    data.inputs[0].as<float>()[i] = x;
    data.inputs[1].as<float>()[i] = w;
    data.expected[0].as<double>()[i] = 2.0 * x + w;
    data.bound[0].as<double>()[i] = 1e-5;
  }
  return data;
}

ProblemLayout KernelFixture::layout(int slots) {
  ProblemLayout problem;
  problem.buffers = {{"x", DType::f32, {n}, BufferRole::input},
                     {"w", DType::f32, {n}, BufferRole::input},
                     {"y", DType::f32, {n}, BufferRole::output}};
  problem.slots = slots;
  return problem;
}

Artifact KernelFixture::compile(const std::string& source) {
  CompileRequest request;
  request.source = source;
  request.constants = {{"n", n}};
  auto outcome = language_->compile(request);
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (outcome && std::holds_alternative<Artifact>(*outcome)) return std::get<Artifact>(*std::move(outcome));
  ADD_FAILURE() << std::get<CompileFailed>(*outcome).log;
  return {};
}

void KernelFixture::open(int slots) {
  auto bench = device_->open(layout(slots));
  ASSERT_TRUE(bench) << bench.error().message;
  bench_ = *std::move(bench);
}

KernelHandle KernelFixture::load(const std::string& source, LaunchPlan plan) {
  auto loaded = bench_->load(compile(source), plan, {{"n", n}});
  EXPECT_TRUE(loaded) << loaded.error().message;
  if (!loaded) return -1;
  if (auto* fault = std::get_if<Fault>(&*loaded)) {
    ADD_FAILURE() << fault->message;
    return -1;
  }
  return std::get<KernelHandle>(*loaded);
}

RunOutcome KernelFixture::run_once(const std::string& source, std::chrono::milliseconds limit) {
  const KernelHandle handle = load(source);
  EXPECT_TRUE(bench_->stage(0, data_, Poison::a));
  const int slot = 0;
  auto outcome = bench_->run(handle, std::span(&slot, 1), limit);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : RunOutcome{};
}

Fault KernelFixture::fault_of(const std::string& source, std::chrono::milliseconds limit) {
  const RunOutcome outcome = run_once(source, limit);
  if (const auto* fault = std::get_if<Fault>(&outcome)) return *fault;
  ADD_FAILURE() << "the kernel ran to its end";
  return {};
}

SlotReport KernelFixture::check(int slot) {
  auto report = bench_->check(slot, data_);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *std::move(report) : SlotReport{};
}

std::string kernel(const std::string& body, const std::string& before) {
  return before + "\nextern \"C\" void kerf_kernel(const float* x, const float* w, float* y) {\n" + body + "\n}\n";
}

}  // namespace kerf

// The program is started again as a worker by the device under test.
int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "worker") {
    const std::vector<std::string> args(argv + 3, argv + argc);
    return kerf::cpu_worker_main(args);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
