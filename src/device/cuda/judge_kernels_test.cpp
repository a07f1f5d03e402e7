#include "device/cuda/judge_kernels.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "language/cuda_cpp/cuda_language.hpp"

namespace kerf::cuda {
namespace {

TEST(JudgeKernels, CompileForEveryGenerationWithoutSpillsAndWithoutState) {
  CudaLanguageOptions options;
  options.self = std::filesystem::read_symlink("/proc/self/exe");
  if (*KERF_NVRTC_DIR) options.search.folders.emplace_back(KERF_NVRTC_DIR);
  if (const char* folder = std::getenv("KERF_NVRTC_DIR")) options.search.folders.emplace_back(folder);
  options.processes = 1;
  const auto language = make_cuda_language(options);
  if (!language) GTEST_SKIP() << language.error().message;
  for (const std::string arch : {"sm_80", "sm_90", "sm_120"}) {
    CompileRequest request;
    request.source = judge_source();
    request.arch = arch;
    request.entry_points = judge_entry_points();
    const auto outcome = (*language)->compile(request);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(std::holds_alternative<Artifact>(*outcome)) << std::get<CompileFailed>(*outcome).log;
    const auto& facts = std::get<Artifact>(*outcome).facts;
    EXPECT_TRUE(facts.writable_globals.empty());
    EXPECT_TRUE(facts.forbidden_symbols.empty());
    for (const auto& kernel : facts.kernels) {
      EXPECT_EQ(kernel.local_bytes, 0) << kernel.name;
      EXPECT_LE(kernel.registers, 64) << kernel.name << ": four blocks must fit a multiprocessor";
    }
  }
}

}  // namespace
}  // namespace kerf::cuda
