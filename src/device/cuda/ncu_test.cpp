#include "device/cuda/ncu.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.hpp"
#include "device/cuda/counted_calls.hpp"
#include "device/cuda/cuda_bench_fixture.hpp"

namespace kerf::cuda {
namespace {

using namespace std::chrono_literals;

// As `ncu --csv --metrics ...` of Nsight Compute 2021 to 2025 is documented to print two launches.
constexpr const char* kPrinted = R"csv(==PROF== Connected to process 3181 (/usr/local/bin/kerf)
==PROF== Profiling "scale" - 0: 0%....50%....100% - 4 passes
==PROF== Disconnected from process 3181
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","3181","kerf","127.0.0.1","scale(const float *, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","80.00"
"0","3181","kerf","127.0.0.1","scale(const float *, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","nsecond","3,000"
"0","3181","kerf","127.0.0.1","scale(const float *, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","20.00"
"0","3181","kerf","127.0.0.1","scale(const float *, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","sm__warps_active.avg.pct_of_peak_sustained_active","%","60.00"
"1","3181","kerf","127.0.0.1","a ""quoted"" name, with a comma","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","40.00"
"1","3181","kerf","127.0.0.1","a ""quoted"" name, with a comma","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","nsecond","1,000"
"1","3181","kerf","127.0.0.1","a ""quoted"" name, with a comma","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","n/a"
)csv";

TEST(Ncu, LaunchesCountByTheTimeTheyTook) {
  const auto values = read_ncu(kPrinted);
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_DOUBLE_EQ(values->at(counter_names::gpu_memory_percent), 70);   // (3 * 80 + 1 * 40) / 4
  EXPECT_DOUBLE_EQ(values->at(counter_names::gpu_compute_percent), 20);  // of the launch that has it
  EXPECT_DOUBLE_EQ(values->at(counter_names::gpu_warps_percent), 60);
}

TEST(Ncu, WhatItSaysInsteadOfATableIsTheReason) {
  const auto refused = read_ncu(
      "==PROF== Connected to process 7\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
      "NVIDIA "
      "GPU Performance Counters on the target device 0.\n");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("ERR_NVGPUCTRPERM"), std::string::npos);
  EXPECT_FALSE(read_ncu(""));
  EXPECT_FALSE(read_ncu("\"ID\",\"a\",\"b\",\"Metric Value\"\n\"0\",\"\",\"\",\"nan\"\n,,,,,,\n\"\"\"\n"));
}

TEST(Ncu, ACallTravelsThroughAFile) {
  CountedCall call;
  call.buffers = {{8, "12345678"}, {16, ""}};
  call.scratch = {4096};
  call.cubin = std::string(
      "\x7f"
      "ELF\0",
      5);
  call.launches = {{"scale", {2, 1, 1}, {64, 1, 1}, 128, {0, 1}}};
  const auto read = decode_counted_call(encode(call));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->buffers[0].content, "12345678");
  EXPECT_EQ(read->buffers[1].bytes, 16u);
  EXPECT_EQ(read->scratch, call.scratch);
  EXPECT_EQ(read->cubin, call.cubin);
  EXPECT_EQ(read->launches[0].kernel, "scale");
  EXPECT_EQ(read->launches[0].args, call.launches[0].args);
  EXPECT_FALSE(decode_counted_call("short"));
}

/// A program in ncu's place: runs what it is told to, then prints the table above.
class NcuProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "kerf-ncu-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path program(const std::string& body) {
    const auto path = folder_ / "ncu";
    EXPECT_TRUE(write_file_atomic(path, "#!/bin/sh\n" + body));
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(NcuProgramTest, IsRunOnTheProgramAndItsTableIsRead) {
  const auto ncu = program("[ \"$1\" = --csv ] || exit 3\nshift 7\n\"$@\" || exit 4\ncat <<'END'\n" +
                           std::string(kPrinted) + "END\n");
  EXPECT_EQ(find_ncu({{"PATH", "/nowhere:" + folder_.string()}}), ncu);
  EXPECT_EQ(find_ncu({{"KERF_NCU", "/nowhere/ncu"}, {"PATH", folder_.string()}}), "");
  const auto values = run_ncu(ncu, {"/bin/true"}, {}, folder_, 20s);
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_DOUBLE_EQ(values->at(counter_names::gpu_memory_percent), 70);
  EXPECT_FALSE(run_ncu(ncu, {"/bin/false"}, {}, folder_, 20s));
  EXPECT_FALSE(run_ncu(folder_ / "none", {"/bin/true"}, {}, folder_, 20s));
}

TEST_F(NcuProgramTest, TheKernelOfABenchRunsInAProcessOfItsOwn) {
  const auto ncu = program("shift 7\n\"$@\" || exit 4\ncat <<'END'\n" + std::string(kPrinted) + "END\n");
  Rig& fake = rig(true);
  if (!fake.device) GTEST_SKIP() << fake.missing;
  CudaDeviceOptions options;
  options.self = self();
  options.secret = 7;
  options.driver_library = (self().parent_path() / "libkerf_fake_cuda.so").string();
  options.language = fake.language.get();
  options.environment = {{"KERF_NCU", ncu.string()}, {"PATH", "/usr/bin:/bin"}};
  const auto device = make_cuda_device(options);
  ASSERT_TRUE(device) << device.error().message;
  constexpr std::int64_t n = 512;
  const auto bench = (*device)->open(affine_layout(n));
  ASSERT_TRUE(bench) << bench.error().message;
  CompileRequest request;
  request.source = kAffine;
  request.constants = {{"n", n}};
  const auto artifact = fake.language->compile(request);
  ASSERT_TRUE(artifact && std::holds_alternative<Artifact>(*artifact));
  const auto kernel = (*bench)->load(std::get<Artifact>(*artifact), plan(2), {{"n", n}});
  ASSERT_TRUE(kernel && std::holds_alternative<KernelHandle>(*kernel));
  const auto data = affine_data(n);
  ASSERT_TRUE((*bench)->stage(0, data, Poison::a));
  const int slot = 0;
  const auto counted = (*bench)->count(std::get<KernelHandle>(*kernel), std::span(&slot, 1), 20s);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(std::get<Counted>(*counted).source, "ncu");
  EXPECT_DOUBLE_EQ(std::get<Counted>(*counted).values.at(counter_names::gpu_memory_percent), 70);
  const auto ran = (*bench)->run(std::get<KernelHandle>(*kernel), std::span(&slot, 1), 20s);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ((*bench)->check(0, data)->outputs[0].wrong, 0);  // the bench goes on as before
}

TEST_F(NcuProgramTest, IsEndedAtItsLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const auto values = run_ncu(program("sleep 60\n"), {"/bin/true"}, {}, folder_, 100ms);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, Errc::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

}  // namespace
}  // namespace kerf::cuda
