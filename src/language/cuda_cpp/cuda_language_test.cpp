// CUDA C++ without a GPU: needs NVRTC, from KERF_NVRTC_DIR or wherever it is found; skips visibly without it.

#include "language/cuda_cpp/cuda_language.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <regex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "language/cuda_cpp/cubin.hpp"
#include "language/cuda_cpp/nvrtc_pool.hpp"
#include "model/candidate.hpp"
#include "model/cubin_images.hpp"

namespace kerf {
namespace {

CudaToolkitSearch search() {
  CudaToolkitSearch search;
  if (*KERF_NVRTC_DIR) search.folders.emplace_back(KERF_NVRTC_DIR);
  for (const auto* name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PATH", "VIRTUAL_ENV"}) {
    if (const char* value = std::getenv(name)) search.environment[name] = value;
  }
  if (const char* folder = std::getenv("KERF_NVRTC_DIR")) search.folders.emplace_back(folder);
  return search;
}

std::filesystem::path self() { return std::filesystem::read_symlink("/proc/self/exe"); }

class CudaLanguageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    CudaLanguageOptions options;
    options.self = self();
    options.search = search();
    options.processes = 4;
    auto made = make_cuda_language(options);
    if (made) {
      language_ = std::move(*made);
    } else if (made.error().code != Errc::unavailable) {
      FAIL() << made.error().message;
    }
  }
  static void TearDownTestSuite() { language_.reset(); }
  void SetUp() override {
    if (!language_) GTEST_SKIP() << "no NVRTC here: run tools/nvrtc_wheels.sh and set KERF_NVRTC_DIR";
  }

  static CompileRequest request(std::string source, std::vector<std::string> entry_points = {"k"}) {
    CompileRequest request;
    request.source = std::move(source);
    request.arch = "sm_90";
    request.entry_points = std::move(entry_points);
    return request;
  }
  static Artifact compiled(const CompileRequest& request) {
    auto outcome = language_->compile(request);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return {};
    }
    if (auto* failed = std::get_if<CompileFailed>(&*outcome)) {
      ADD_FAILURE() << failed->log;
      return {};
    }
    return std::get<Artifact>(*std::move(outcome));
  }
  static std::string failure(const CompileRequest& request) {
    auto outcome = language_->compile(request);
    if (!outcome) return "error: " + outcome.error().message;
    auto* failed = std::get_if<CompileFailed>(&*outcome);
    return failed ? failed->log : "it compiled";
  }

  static std::unique_ptr<Language> language_;
};
std::unique_ptr<Language> CudaLanguageTest::language_;

TEST_F(CudaLanguageTest, MakesACubinWithItsFacts) {
  const auto artifact = compiled(request(R"(
extern "C" __global__ void __launch_bounds__(128) k(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x % 64] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x % 64];
})"));
  EXPECT_EQ(artifact.language, "cuda_cpp");
  EXPECT_EQ(artifact.bytes.substr(1, 3), "ELF");
  EXPECT_EQ(artifact.id.size(), 64u);
  ASSERT_EQ(artifact.facts.kernels.size(), 1u);
  const auto& kernel = artifact.facts.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.shared_bytes, 256);
  EXPECT_EQ(kernel.local_bytes, 0);
  EXPECT_EQ(kernel.max_threads, 128);
  EXPECT_GE(kernel.registers, 8);
  EXPECT_LE(kernel.registers, 64);
  EXPECT_TRUE(artifact.facts.writable_globals.empty());
  EXPECT_TRUE(artifact.facts.forbidden_symbols.empty());
  EXPECT_NE(artifact.disassembly_hint.find(".entry k"), std::string::npos);
}

TEST_F(CudaLanguageTest, TheVersionNamesTheBuildAndTheFlags) {
  EXPECT_TRUE(std::regex_search(language_->version(), std::regex("^NVRTC [0-9]+\\.[0-9]+, V[0-9.]+ --std=c\\+\\+17")))
      << language_->version();
}

TEST_F(CudaLanguageTest, FactsAgreeWithTheAssemblersOwnReport) {
  // A run-time index keeps `local` in local memory.
  const std::string source = R"(
extern "C" __global__ void k(const float* x, float* y, int n) {
  __shared__ float tile[1000];
  float local[100];
  for (int i = 0; i < 100; ++i) local[i] = x[i * n];
  tile[threadIdx.x] = local[n];
  __syncthreads();
  y[threadIdx.x] = tile[n] + local[n / 2];
})";
  const auto toolkit = find_cuda_toolkit(search());
  worker::Command command;
  command.self = self();
  command.kind = "nvrtc";
  command.args = {"--library", toolkit.nvrtc.string(), "--builtins", toolkit.builtins.string(), "--memory", "0"};
  NvrtcPool pool(command, 1);
  // Warnings of a source that also does not compile carry the report: the verbose text is only in the log.
  const auto outcome =
      pool.compile({source, {"--gpu-architecture=sm_90a", "--ptxas-options=-v"}}, std::chrono::seconds(20));
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto* made = std::get_if<NvrtcCompiled>(&*outcome);
  ASSERT_NE(made, nullptr);
  std::smatch match;
  ASSERT_TRUE(std::regex_search(made->log, match, std::regex("([0-9]+) bytes stack frame"))) << made->log;
  const int frame = std::stoi(match[1]);
  ASSERT_TRUE(std::regex_search(made->log, match, std::regex("Used ([0-9]+) registers"))) << made->log;
  const int registers = std::stoi(match[1]);
  ASSERT_TRUE(std::regex_search(made->log, match, std::regex("([0-9]+) bytes smem"))) << made->log;
  const int shared = std::stoi(match[1]);
  const auto cubin = read_cubin(made->cubin);
  ASSERT_TRUE(cubin);
  ASSERT_EQ(cubin->kernels.size(), 1u);
  EXPECT_EQ(cubin->kernels[0].registers, registers);
  EXPECT_EQ(cubin->kernels[0].local_bytes, frame);
  EXPECT_EQ(cubin->kernels[0].shared_bytes, shared);
  EXPECT_GE(frame, 400);
}

TEST_F(CudaLanguageTest, AnErrorShowsTheCandidatesOwnLine) {
  auto bad = request("extern \"C\" __global__ void k(float* y) {\n  y[0] = undefined_thing;\n}\n");
  bad.constants = {{"rows", 5}, {"cols", 7}, {"BLOCK", 256}};
  const auto log = failure(bad);
  EXPECT_NE(log.find("kernel.cu(2): error: identifier \"undefined_thing\" is undefined"), std::string::npos) << log;
}

TEST_F(CudaLanguageTest, ConstantsAreCompileTimeIntegers) {
  auto good = request(R"(
static_assert(rows == 5 && BLOCK == 256 && sizeof(rows) == sizeof(int) && huge == (1LL << 40) && low == -3);
extern "C" __global__ void k(float* y) { __shared__ float tile[BLOCK]; tile[threadIdx.x] = y[0]; y[rows] = tile[1]; })");
  good.constants = {{"rows", 5}, {"BLOCK", 256}, {"huge", 1LL << 40}, {"low", -3}};
  EXPECT_EQ(compiled(good).facts.kernels.at(0).shared_bytes, 1024);
}

TEST_F(CudaLanguageTest, ConstantsWhoseAddressIsTakenAreNoWritableGlobals) {
  auto good = request("extern \"C\" __global__ void k(int* y) { const int* p = y[0] ? &rows : &cols; y[1] = *p; }");
  good.constants = {{"rows", 5}, {"cols", 6}};
  EXPECT_TRUE(compiled(good).facts.writable_globals.empty());
}

TEST_F(CudaLanguageTest, AMissingEntryPointFailsWithAHint) {
  const auto log = failure(request("__global__ void kernel_a(float* y) { y[0] = 1; }", {"kernel_a"}));
  EXPECT_NE(log.find("'kernel_a'"), std::string::npos) << log;
  EXPECT_NE(log.find("extern \"C\""), std::string::npos) << log;
}

TEST_F(CudaLanguageTest, WritableGlobalsAreNamedWithTheirSize) {
  const auto artifact = compiled(request(R"(
__device__ float cache[1024];
static __device__ const float table[4] = {1, 2, 3, 4};
extern "C" __global__ void k(float* y) {
  static __device__ int calls;
  if (atomicAdd(&calls, 1) > 0) y[0] = cache[threadIdx.x];
  cache[threadIdx.x] = table[int(y[1])];
})"));
  ASSERT_EQ(artifact.facts.writable_globals.size(), 2u);
  const std::set<std::string> names(artifact.facts.writable_globals.begin(), artifact.facts.writable_globals.end());
  EXPECT_TRUE(names.contains("cache (4096 bytes)")) << artifact.facts.writable_globals[0];
  EXPECT_TRUE(names.contains("k::calls (4 bytes)")) << artifact.facts.writable_globals[1];
}

TEST_F(CudaLanguageTest, ALookUpTableIsNoWritableGlobal) {
  const auto artifact = compiled(request(R"(
static __device__ const float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float weights[4] = {1, 2, 3, 4};
extern "C" __global__ void k(const float* x, float* y) {
  static const float other[8] = {8, 7, 6, 5, 4, 3, 2, 1};
  const int i = threadIdx.x;
  y[i] = table[int(x[i])] + other[int(x[i + 1])] + weights[i & 3];
})"));
  EXPECT_TRUE(artifact.facts.writable_globals.empty()) << artifact.facts.writable_globals[0];
}

TEST_F(CudaLanguageTest, StateHiddenInInlineAssemblyIsFoundWhateverItsName) {
  for (const std::string name : {"hidden", "cols", "$str_hidden", "__unnamed_1"}) {
    auto bad = request(
        "extern \"C\" __global__ void k(unsigned* y) {\n  unsigned calls;\n"
        "  asm volatile(\"{ .global .align 4 .u32 " +
        name + "; .reg .u64 p; mov.u64 p, " + name +
        "; atom.global.add.u32 %0, [p], 1; }\" : \"=r\"(calls));\n  y[cols] = calls;\n}\n");
    bad.constants = {{"cols", 7}};
    EXPECT_GE(compiled(bad).facts.writable_globals.size(), 1u) << name;
  }
}

TEST_F(CudaLanguageTest, AConstantThatIsWrittenThroughItsAddressIsFound) {
  const auto artifact = compiled(request(R"(
extern "C" { __constant__ int calls[4] = {0, 0, 0, 0}; }
extern "C" __global__ void k(int* y) {
  unsigned long long at;
  asm volatile("{ .reg .u64 p; mov.u64 p, calls; cvta.const.u64 %0, p; }" : "=l"(at));
  volatile int* memory = reinterpret_cast<volatile int*>(at);
  memory[0] = memory[0] + 1;
  y[0] = calls[3];
})"));
  ASSERT_EQ(artifact.facts.writable_globals.size(), 1u);
  EXPECT_EQ(artifact.facts.writable_globals[0], "calls (16 bytes, __constant__)");
}

TEST_F(CudaLanguageTest, CompilersRunInTheSandbox) {
  const auto sandbox = make_sandbox();
  CudaLanguageOptions options;
  options.self = self();
  options.search = search();
  options.processes = 1;
  options.sandbox = sandbox.get();
  const auto language = make_cuda_language(options);
  ASSERT_TRUE(language) << language.error().message;
  const auto good = (*language)->compile(
      request("#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half* y) { y[0] = y[1] + y[2]; }"));
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_TRUE(std::holds_alternative<Artifact>(*good)) << std::get<CompileFailed>(*good).log;
  const auto nosy =
      (*language)->compile(request("#include \"/etc/shadow\"\nextern \"C\" __global__ void k(float* y) {}"));
  ASSERT_TRUE(nosy) << nosy.error().message;
  ASSERT_TRUE(std::holds_alternative<CompileFailed>(*nosy));
  EXPECT_NE(std::get<CompileFailed>(*nosy).log.find("cannot open source file"), std::string::npos)
      << std::get<CompileFailed>(*nosy).log;
}

/// Fourteen kernels, which are two parts; `more` stands before them, and each body ends with `last`.
std::string many_kernels(const std::string& more, const std::string& last) {
  std::string text = more;
  for (int i = 0; i < 14; ++i)
    text += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(32) k{}(float* x) {{\n  x[threadIdx.x] += {}.5f;\n  {}\n}}\n",
        i, i, i == 13 ? last : "");
  return text;
}

std::vector<std::string> many_names() {
  std::vector<std::string> names;
  for (int i = 0; i < 14; ++i) names.push_back(fmt::format("k{}", i));
  return names;
}

TEST_F(CudaLanguageTest, AProgramOfManyKernelsIsCompiledInParts) {
  const auto artifact = compiled(request(many_kernels("", ""), many_names()));
  const auto images = split_images(artifact.bytes);
  ASSERT_EQ(images.size(), 2u);
  std::set<std::string> kernels;
  for (const auto& image : images) {
    const auto cubin = read_cubin(image);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_EQ(cubin->kernels.size(), 7u);
    for (const auto& kernel : cubin->kernels) kernels.insert(kernel.name);
  }
  EXPECT_EQ(kernels.size(), 14u);
  EXPECT_EQ(artifact.facts.kernels.size(), 14u);
}

TEST_F(CudaLanguageTest, WhatOnePartOfAProgramDoesCountsForTheWhole) {
  const auto artifact =
      compiled(request(many_kernels("__device__ int calls;\n", "calls = calls + 1; x[0] = calls;"), many_names()));
  ASSERT_EQ(artifact.facts.writable_globals.size(), 1u);
  EXPECT_NE(artifact.facts.writable_globals[0].find("calls"), std::string::npos);
  const auto printing = compiled(request(many_kernels("", "printf(\"x\");"), many_names()));
  EXPECT_FALSE(printing.facts.forbidden_symbols.empty());
}

TEST_F(CudaLanguageTest, AnErrorInAPartShowsTheCandidatesOwnLine) {
  const auto log = failure(request(many_kernels("", "x[0] = nothing_like_it;"), many_names()));
  EXPECT_NE(log.find("(55): error"), std::string::npos) << log;
  EXPECT_NE(log.find("nothing_like_it"), std::string::npos) << log;
}

TEST_F(CudaLanguageTest, PrintingAndTheHeapAreForbidden) {
  const auto artifact = compiled(request(R"(
extern "C" __global__ void k(int* y) {
  printf("hello %d\n", y[0]);
  int* p = (int*)malloc(4);
  y[1] = *p;
  assert(y[2] == 3);
})"));
  std::string all;
  for (const auto& symbol : artifact.facts.forbidden_symbols) all += symbol + ";";
  EXPECT_NE(all.find("vprintf"), std::string::npos) << all;
  EXPECT_NE(all.find("malloc"), std::string::npos) << all;
  EXPECT_NE(all.find("__assertfail"), std::string::npos) << all;
}

TEST_F(CudaLanguageTest, HabitualHeadersAndHelpersWithoutDeviceCompile) {
  const auto artifact = compiled(request(R"(
#include <cuda_runtime.h>
#include <stdint.h>
#include <cstdint>
#include <math.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
float helper(float x) { return fmaxf(x, -FLT_MAX) + (x == INFINITY ? 1.0f : 0.0f); }
template <typename T> T twice(T x) { return x + x; }
extern "C" __global__ void k(float* y, uint32_t* z) { y[0] = twice(helper(y[1])); z[0] = UINT32_MAX; z[1] = INT_MAX; }
)"));
  EXPECT_EQ(artifact.facts.kernels.size(), 1u);
}

TEST_F(CudaLanguageTest, HalfPrecisionAndMatrixHeadersCompileWhereTheyAreInstalled) {
  if (find_cuda_toolkit(search()).includes.empty()) GTEST_SKIP() << "no CUDA headers beside NVRTC";
  const auto artifact = compiled(request(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* a, const half* b, float* c, __nv_bfloat16* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  d[0] = __float2bfloat16(__half2float(a[0]));
})"));
  EXPECT_NE(artifact.disassembly_hint.find("wmma"), std::string::npos);
}

TEST_F(CudaLanguageTest, EndlessTemplateRecursionEndsInTheTimeLimitOrTheCompilersOwn) {
  auto bad = request(R"(
template <long long N, long long M> struct Grow { static constexpr long long value = Grow<N + 1, M>::value + Grow<N, M + 1>::value; };
extern "C" __global__ void k(long long* y) { y[0] = Grow<0, 0>::value; })");
  bad.time_limit = std::chrono::milliseconds(2000);
  const auto begin = std::chrono::steady_clock::now();
  const auto log = failure(bad);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_NE(log, "it compiled");
  EXPECT_EQ(compiled(request("extern \"C\" __global__ void k(float* y) { y[0] = 1; }")).facts.kernels.size(), 1u);
}

TEST_F(CudaLanguageTest, ACompileThatNeverEndsIsStopped) {
  // 2^60 iterations of constant evaluation, within the front-end's limits because it is a recursion of templates.
  std::string source =
      "template <int D, int P> struct Tree { enum { n = Tree<D - 1, 2 * P>::n + Tree<D - 1, 2 * P + 1>::n }; };\n"
      "template <int P> struct Tree<0, P> { enum { n = 1 }; };\n"
      "extern \"C\" __global__ void k(int* y) { y[0] = Tree<28, 1>::n; }";
  auto bad = request(source);
  bad.time_limit = std::chrono::milliseconds(1500);
  const auto begin = std::chrono::steady_clock::now();
  const auto log = failure(bad);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_NE(log.find("was stopped"), std::string::npos) << log;
}

TEST_F(CudaLanguageTest, EightThreadsCompileSideBySide) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto good = request(
          "extern \"C\" __global__ void k(float* y) { __shared__ float s[SIZE]; s[threadIdx.x] = y[0]; y[1] = s[SIZE - "
          "1]; }");
      good.constants = {{"SIZE", 32 * (t + 1)}};
      const auto artifact = compiled(good);
      if (artifact.facts.kernels.size() == 1 && artifact.facts.kernels[0].shared_bytes == 128 * (t + 1)) ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST_F(CudaLanguageTest, CalibrationKernelsParseAndCompile) {
  for (const std::string arch : {"sm_90", "sm_80"}) {
    for (const auto& kernel : language_->calibration_kernels(arch)) {
      const auto candidate = parse_candidate(kernel.peak, kernel.source);
      ASSERT_TRUE(candidate) << candidate.error().message;
      auto good = request(kernel.source, {candidate->plan.launches.at(0).kernel});
      good.arch = arch;
      good.constants = {{"n", kernel.n}};
      const auto artifact = compiled(good);
      ASSERT_EQ(artifact.facts.kernels.size(), 1u) << kernel.peak;
      EXPECT_EQ(artifact.facts.kernels[0].local_bytes, 0) << kernel.peak << " spills";
      EXPECT_GE(artifact.facts.kernels[0].max_threads, 256) << kernel.peak;
      EXPECT_GT(kernel.work, 1e8);
    }
  }
}

TEST(FindCudaToolkit, SaysWhereItLooked) {
  CudaToolkitSearch nowhere;
  nowhere.folders = {"/usr"};
  const auto toolkit = find_cuda_toolkit(nowhere);
  EXPECT_EQ(toolkit.looked.at(0), "/usr");
}

}  // namespace
}  // namespace kerf

/// The program is also its own compiler process.
int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "worker") {
    const std::vector<std::string> args(argv + 3, argv + argc);
    return kerf::nvrtc_worker_main(args);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
