#pragma once
// Where jobs, results and partial comparisons lie in a session's work memory (the same on both sides of the bus).

#include <cstdint>

#include "device/cuda/judge_kernels.hpp"
#include "oracle/compare.hpp"

namespace kerf::cuda {

inline constexpr std::uint64_t kMostJobs = 4096;
inline constexpr std::uint64_t kMostOutputs = 32;  ///< compared in one go
inline constexpr unsigned kMostBlocks = 2048;

inline constexpr std::uint64_t kJobsAt = 0;
inline constexpr std::uint64_t kResultsAt = kJobsAt + kMostJobs * sizeof(Job);
inline constexpr std::uint64_t kPartialsAt = kResultsAt + kMostJobs * sizeof(std::uint64_t);
inline constexpr std::uint64_t kPartialArea = kMostBlocks * sizeof(ComparePartial);
inline constexpr std::uint64_t kOctavesAt = kPartialsAt + kMostOutputs * kPartialArea;
inline constexpr std::uint64_t kOctaveArea = oracle::kOctaves * sizeof(std::uint64_t);  ///< of one output
inline constexpr std::uint64_t kWorkBytes = kOctavesAt + kMostOutputs * kOctaveArea;

static_assert(kResultsAt % 16 == 0 && kPartialsAt % 16 == 0 && kOctavesAt % 16 == 0);

}  // namespace kerf::cuda
