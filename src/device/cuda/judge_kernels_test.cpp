#include "device/cuda/judge_kernels.hpp"

#include <cstdlib>
#include <string>

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
    EXPECT_EQ(facts.forbidden_symbols, std::vector<std::string>{"%globaltimer (a clock)"}) << "for its own delay";
    for (const auto& kernel : facts.kernels) {
      EXPECT_EQ(kernel.local_bytes, 0) << kernel.name;
      EXPECT_LE(kernel.registers, 64) << kernel.name << ": four blocks must fit a multiprocessor";
    }
    request.source = judge_local_source();
    request.entry_points.clear();
    for (const auto bytes : kLocalScrubs) request.entry_points.push_back("kerf_scrub_local_" + std::to_string(bytes));
    const auto local = (*language)->compile(request);
    ASSERT_TRUE(local && std::holds_alternative<Artifact>(*local));
    for (const auto& kernel : std::get<Artifact>(*local).facts.kernels) {
      const auto bytes = std::stoll(kernel.name.substr(kernel.name.rfind('_') + 1));
      EXPECT_GE(kernel.local_bytes, bytes) << kernel.name;
      EXPECT_LE(kernel.registers, 32) << kernel.name << ": all threads of a multiprocessor must run at once";
    }
  }
}

}  // namespace
}  // namespace kerf::cuda
