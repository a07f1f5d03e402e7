#include <gtest/gtest.h>

#include <thread>

#include "device/cpu/kernel_fixture.hpp"

namespace kerf {
namespace {

using namespace std::chrono_literals;
using CpuBenchTest = KernelFixture;

TEST_F(CpuBenchTest, AnHonestKernelPassesEveryCheck) {
  const RunOutcome outcome = run_once(kernel(kHonestBody));
  ASSERT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Fault>(outcome).message;
  EXPECT_GT(std::get<Timing>(outcome).host_us, 0);
  EXPECT_EQ(std::get<Timing>(outcome).device_us, 0);
  const SlotReport report = check();
  ASSERT_EQ(report.outputs.size(), 1u);
  EXPECT_EQ(report.outputs[0].wrong, 0);
  EXPECT_EQ(report.outputs[0].total, n);
  EXPECT_TRUE(report.changed_inputs.empty());
  EXPECT_TRUE(report.broken_red_zones.empty());
}

TEST_F(CpuBenchTest, AnOpenMpKernelUsesItsThreadsUnderLockdown) {
  const RunOutcome outcome = run_once(kernel(R"(
#pragma omp parallel for
for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + w[i];
int seen = 0;
#pragma omp parallel reduction(+ : seen)
seen += 1;
if (seen != omp_get_max_threads()) y[0] = 1e30f;
std::vector<float> heap(1 << 20, 1.0f);
if (heap[1000] != 1.0f) y[0] = 1e30f;)"));
  ASSERT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Fault>(outcome).message;
  EXPECT_EQ(check().outputs[0].wrong, 0);
}

TEST_F(CpuBenchTest, WrongElementsAreCountedAndLocated) {
  run_once(kernel(std::string(kHonestBody) + "y[7] += 1; y[900] = NAN;"));
  const SlotReport report = check();
  EXPECT_EQ(report.outputs[0].wrong, 2);
  EXPECT_EQ(report.outputs[0].worst, 900);
}

TEST_F(CpuBenchTest, AKernelThatDoesNothingLeavesPoison) {
  run_once(kernel(""));
  EXPECT_EQ(check().outputs[0].wrong, n);
  const auto y = bench_->read_output(0, 0);
  ASSERT_TRUE(y);
  EXPECT_EQ(y->as<std::uint32_t>()[5], 0xFFFFFFFFu);
}

TEST_F(CpuBenchTest, WritesJustOutsideABufferAreSeen) {
  run_once(kernel(std::string(kHonestBody) + "y[n] = 1;"));
  EXPECT_EQ(check().broken_red_zones, std::vector<std::string>{"y"});
  run_once(kernel(std::string(kHonestBody) + "y[-1] = 1;"));
  EXPECT_EQ(check().broken_red_zones, std::vector<std::string>{"y"});
  EXPECT_EQ(check().outputs[0].wrong, 0);
}

TEST_F(CpuBenchTest, WritesFarOutsideABufferCrash) {
  const Fault fault = fault_of(kernel("y[n + 3000] = 1;"));
  EXPECT_EQ(fault.kind, Fault::Kind::crashed);
  EXPECT_NE(fault.message.find("outside a buffer"), std::string::npos) << fault.message;
}

TEST_F(CpuBenchTest, ChangedInputsAreSeen) {
  run_once(kernel(std::string(kHonestBody) + "const_cast<float*>(w)[n - 1] = 5;"));
  EXPECT_EQ(check().changed_inputs, std::vector<std::string>{"w"});
}

TEST_F(CpuBenchTest, CrashesAreNamed) {
  EXPECT_NE(fault_of(kernel("*(volatile int*)8 = 1;")).message.find("SIGSEGV"), std::string::npos);
  EXPECT_NE(fault_of(kernel("volatile int zero = 0; y[0] = 5 / zero;")).message.find("SIGFPE"), std::string::npos);
  EXPECT_NE(fault_of(kernel("__builtin_trap();")).message.find("SIGILL"), std::string::npos);
  EXPECT_NE(fault_of(kernel("abort();")).message.find("SIGABRT"), std::string::npos);
  EXPECT_NE(fault_of(kernel("throw 1;")).message.find("SIGABRT"), std::string::npos);
}

TEST_F(CpuBenchTest, AStackOverflowIsNamed) {
  const Fault fault = fault_of(kernel(
      "y[0] = deep(x, 1000000000);",
      "__attribute__((noinline)) static float deep(const float* x, long d) { volatile float t[256]; t[d % 256] = "
      "x[d % n]; return d ? deep(x, d - 1) + t[d % 256] : 0; }"));
  EXPECT_NE(fault.message.find("stack overflow"), std::string::npos) << fault.message;
}

TEST_F(CpuBenchTest, AHangIsEndedAtItsLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const Fault fault = fault_of(kernel("for (;;) asm volatile(\"\");"), 100ms);
  EXPECT_EQ(fault.kind, Fault::Kind::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_F(CpuBenchTest, TheBenchWorksOnAfterAFault) {
  fault_of(kernel("abort();"));
  const RunOutcome outcome = run_once(kernel(kHonestBody));
  ASSERT_TRUE(std::holds_alternative<Timing>(outcome));
  EXPECT_EQ(check().outputs[0].wrong, 0);
}

TEST_F(CpuBenchTest, AFaultVoidsEveryHandle) {
  const KernelHandle honest = load(kernel(kHonestBody));
  fault_of(kernel("abort();"));
  const int slot = 0;
  EXPECT_FALSE(bench_->run(honest, std::span(&slot, 1), 1s));
}

TEST_F(CpuBenchTest, ABatchRunsOncePerSlotInOrder) {
  open(4);
  const KernelHandle handle = load(kernel(kHonestBody));
  std::vector<oracle::DataSet> sets;
  for (int slot = 0; slot < 4; ++slot) {
    sets.push_back(make_data(slot + 2));
    ASSERT_TRUE(bench_->stage(slot, sets.back(), Poison::b));
  }
  const std::vector<int> slots = {2, 0, 3};
  const auto outcome = bench_->run(handle, slots, 5s);
  ASSERT_TRUE(outcome && std::holds_alternative<Timing>(*outcome));
  for (int slot = 0; slot < 4; ++slot) {
    const auto report = bench_->check(slot, sets[static_cast<std::size_t>(slot)]);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->outputs[0].wrong, slot == 1 ? n : 0) << slot;
  }
}

TEST_F(CpuBenchTest, ScratchIsPoisonedAndGuarded) {
  LaunchPlan plan;
  plan.scratch = {{"tmp", DType::f32, {Dim::symbol("n")}}};
  const std::string head = "extern \"C\" void kerf_kernel(const float* x, const float* w, float* y, float* tmp) {\n";
  const int slot = 0;
  const KernelHandle reads = load(head + "for (int i = 0; i < n; ++i) y[i] = tmp[i]; }", plan);
  ASSERT_TRUE(bench_->stage(0, data_, Poison::b));
  ASSERT_TRUE(bench_->run(reads, std::span(&slot, 1), 1s));
  EXPECT_EQ(bench_->read_output(0, 0)->as<std::uint32_t>()[n - 1], 0x7FFF7FFFu);
  bench_->unload(reads);

  const KernelHandle honest =
      load(head + "for (int i = 0; i < n; ++i) tmp[i] = 2 * x[i]; for (int i = 0; i < n; ++i) y[i] = tmp[i] + w[i]; }",
           plan);
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  ASSERT_TRUE(bench_->run(honest, std::span(&slot, 1), 1s));
  EXPECT_EQ(check().outputs[0].wrong, 0);
  EXPECT_TRUE(check().broken_red_zones.empty());

  const KernelHandle outside = load(head + std::string(kHonestBody) + "tmp[n] = 0; }", plan);
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  ASSERT_TRUE(bench_->run(outside, std::span(&slot, 1), 1s));
  EXPECT_EQ(check().broken_red_zones, std::vector<std::string>{"tmp"});
}

TEST_F(CpuBenchTest, NoKernelIsShownWhatAnotherLeftInASlot) {
  const KernelHandle a = load(kernel(kHonestBody));
  const KernelHandle b = load(kernel(""));
  const int slot = 0;
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  ASSERT_TRUE(bench_->run(a, std::span(&slot, 1), 1s));
  EXPECT_FALSE(bench_->run(b, std::span(&slot, 1), 1s));  // the slot is a's until it is staged again
  EXPECT_EQ(check().outputs[0].wrong, 0);
  for (const bool expected : {false, true}) {
    if (expected) bench_->expect(b, std::span(&slot, 1));
    ASSERT_TRUE(bench_->stage(0, data_, Poison::b));
    ASSERT_TRUE(bench_->run(b, std::span(&slot, 1), 1s));
    EXPECT_EQ(check().outputs[0].wrong, n);
  }
}

TEST_F(CpuBenchTest, AKernelsOffencesAreItsOwn) {
  open(2);
  const KernelHandle honest = load(kernel(kHonestBody));
  const KernelHandle spoiler = load(kernel("for (long i = n; i < n + 64; ++i) y[i] = 7;"));
  const int first = 0, second = 1;
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  ASSERT_TRUE(bench_->stage(1, data_, Poison::a));
  ASSERT_TRUE(bench_->run(honest, std::span(&first, 1), 1s));
  ASSERT_TRUE(bench_->run(spoiler, std::span(&second, 1), 1s));
  EXPECT_EQ(check(0).outputs[0].wrong, 0);
  EXPECT_TRUE(check(0).broken_red_zones.empty());
  EXPECT_FALSE(check(1).broken_red_zones.empty());
}

TEST_F(CpuBenchTest, NamedCriticalSectionsHoldAlthoughTheKernelsMemoryIsReadOnly) {
  const RunOutcome outcome = run_once(kernel(R"(
for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + w[i];
long count = 0, other = 0;
#pragma omp parallel num_threads(4)
for (int i = 0; i < 1000; ++i) {
#pragma omp critical(first)
  { ++count;
#pragma omp critical(second)
    ++other; }
}
if (count != other || count % 1000 != 0) y[0] = 1e30f;)"));
  ASSERT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Fault>(outcome).message;
  EXPECT_EQ(check().outputs[0].wrong, 0);
}

TEST_F(CpuBenchTest, TwoKernelsTakeTurnsOnTheSameSlots) {
  const KernelHandle a = load(kernel(kHonestBody));
  const KernelHandle b = load(kernel("for (int i = 0; i < n; ++i) y[i] = x[i] + (x[i] + w[i]);"));
  const int slot = 0;
  for (int turn = 0; turn < 20; ++turn) {
    data_ = make_data(turn + 3);
    ASSERT_TRUE(bench_->stage(0, data_, turn % 3 == 0 ? Poison::a : Poison::b));
    const auto outcome = bench_->run(turn % 2 == 0 ? a : b, std::span(&slot, 1), 1s);
    ASSERT_TRUE(outcome && std::holds_alternative<Timing>(*outcome));
    EXPECT_EQ(check().outputs[0].wrong, 0);
  }
}

TEST_F(CpuBenchTest, AnUnreadableArtifactIsAFault) {
  Artifact artifact;
  artifact.bytes = "not a shared object";
  const auto loaded = bench_->load(artifact, {}, {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(std::holds_alternative<Fault>(*loaded));
  EXPECT_NE(std::get<Fault>(*loaded).message.find("cannot be loaded"), std::string::npos);
}

TEST_F(CpuBenchTest, ManyBuffersCanBePassed) {
  for (const int buffers : {31, 32, 33, 64, 65, 300}) {
    SCOPED_TRACE(buffers);
    ProblemLayout problem;
    std::string source = "extern \"C\" void kerf_kernel(";
    std::string sum = "0";
    oracle::DataSet data;
    for (int i = 0; i < buffers - 1; ++i) {
      problem.buffers.push_back({"x" + std::to_string(i), DType::f32, {1}, BufferRole::input});
      source += "const float* x" + std::to_string(i) + ", ";
      sum += " + x" + std::to_string(i) + "[0]";
      data.inputs.push_back(ir::make_tensor(DType::f32, {1}));
      data.inputs.back().as<float>()[0] = static_cast<float>(1 << (i % 10));
    }
    problem.buffers.push_back({"y", DType::f32, {1}, BufferRole::output});
    double expected = 0;
    for (const auto& input : data.inputs) expected += input.as<float>()[0];
    data.expected = {ir::make_tensor(DType::f64, {1})};
    data.expected[0].as<double>()[0] = expected;
    data.bound = {ir::make_tensor(DType::f64, {1})};
    auto bench = device_->open(problem);
    ASSERT_TRUE(bench);
    auto loaded = (*bench)->load(compile(source + "float* y) { y[0] = " + sum + "; }"), {}, {});
    ASSERT_TRUE(loaded && std::holds_alternative<KernelHandle>(*loaded));
    ASSERT_TRUE((*bench)->stage(0, data, Poison::a));
    const int slot = 0;
    ASSERT_TRUE((*bench)->run(std::get<KernelHandle>(*loaded), std::span(&slot, 1), 1s));
    EXPECT_EQ((*bench)->read_output(0, 0)->as<float>()[0], static_cast<float>(expected));
  }
}

TEST_F(CpuBenchTest, AResultFromElsewhereIsHeldToTheSameRule) {
  ir::HostTensor result = ir::make_tensor(DType::f32, {n});
  for (std::int64_t i = 0; i < n; ++i) result.as<float>()[i] = static_cast<float>(data_.expected[0].as<double>()[i]);
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  ASSERT_TRUE(bench_->write_output(0, 0, result.bytes));
  EXPECT_EQ(check().outputs[0].wrong, 0);
  result.as<float>()[n - 1] += 1;
  ASSERT_TRUE(bench_->write_output(0, 0, result.bytes));
  EXPECT_EQ(check().outputs[0].wrong, 1);
  EXPECT_FALSE(bench_->write_output(0, 1, result.bytes));
  EXPECT_FALSE(bench_->write_output(0, 0, std::span(result.bytes).first(8)));
}

TEST_F(CpuBenchTest, CallsAreCountedFromOutsideOfTheSandbox) {
  const KernelHandle handle = load(kernel(std::string(kHonestBody) + R"(
#pragma omp parallel num_threads(2)
{ volatile long turns = 0; while (turns < 40000000) turns = turns + 1; })"));
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  const int slot = 0;
  const auto counted = bench_->count(handle, std::span(&slot, 1), 10s);
  if (!counted) GTEST_SKIP() << counted.error().message;
  ASSERT_TRUE(std::holds_alternative<Counted>(*counted)) << std::get<Fault>(*counted).message;
  const auto& [source, values] = std::get<Counted>(*counted);
  EXPECT_EQ(source, "perf");
  const double busiest = values.at(counter_names::busiest_us), all = values.at(counter_names::task_clock_us);
  EXPECT_GT(busiest, 1000);  // 40 million turns take longer, on whatever processor
  EXPECT_GT(all, 1.5 * busiest) << "both threads count";
  if (const auto instructions = values.find(counter_names::instructions); instructions != values.end()) {
    EXPECT_GT(instructions->second, 8e7);  // threads that OpenMP started count too
    EXPECT_GT(values.at(counter_names::cycles), 0);
  }
  EXPECT_EQ(check().outputs[0].wrong, 0);  // the call was a call like any other
}

TEST_F(CpuBenchTest, AKernelThatCrashesWhileItIsCountedIsAFault) {
  const KernelHandle handle = load(kernel("abort();"));
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  const int slot = 0;
  const auto counted = bench_->count(handle, std::span(&slot, 1), 5s);
  if (!counted) GTEST_SKIP() << counted.error().message;
  ASSERT_TRUE(std::holds_alternative<Fault>(*counted));
  EXPECT_NE(std::get<Fault>(*counted).message.find("SIGABRT"), std::string::npos);
  EXPECT_FALSE(bench_->count(handle, std::span(&slot, 1), 5s));  // its handle is void
}

TEST_F(CpuBenchTest, MisuseIsAnError) {
  const KernelHandle handle = load(kernel(kHonestBody));
  const int slot = 7;
  EXPECT_FALSE(bench_->run(handle, std::span(&slot, 1), 1s));
  EXPECT_FALSE(bench_->stage(7, data_, Poison::a));
  EXPECT_FALSE(bench_->run(99, {}, 1s));
  oracle::DataSet other;
  EXPECT_FALSE(bench_->stage(0, other, Poison::a));
}

}  // namespace
}  // namespace kerf
