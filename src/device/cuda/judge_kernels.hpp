#pragma once
// The judge's own device code: staging, comparing and verifying next to the data. The structures are shared with it by
// layout (all members 64 bits).

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::cuda {

/// One piece of work of `kerf_jobs`; addresses are device addresses.
struct Job {
  enum Kind : std::uint64_t {
    copy = 0,       ///< source to target; result: keyed sum of what was read
    fill = 1,       ///< target with the 16-bit pattern `value`
    red_fill = 2,   ///< target with the address-keyed red-zone pattern
    same = 3,       ///< result: number of 8-byte words (and tail bytes) in which target and source differ
    red_check = 4,  ///< result: number of words (and bytes) that differ from the red-zone pattern
    sum = 5,        ///< result: keyed sum of target
  };
  std::uint64_t kind = 0;
  std::uint64_t target = 0;  ///< 16-byte aligned except for red zones
  std::uint64_t source = 0;
  std::uint64_t bytes = 0;
  std::uint64_t value =
      0;  ///< fill: the pattern; sums and copies: which sum; nothing secret, the list lies in device memory
};

/// What one block of `kerf_compare` saw.
struct ComparePartial {
  std::uint64_t compared = 0, wrong = 0, squares = 0;
  double sum_squares = 0;
  double worst_ratio = -1;
  std::uint64_t worst = ~0ull;  ///< flat index; all ones: none compared
  double worst_actual = 0, worst_expected = 0, worst_bound = 0;
  double largest = 0;              ///< |error| / bound
  std::uint64_t expected_sum = 0;  ///< keyed sums of the masked data, which the judge compares with its own
  std::uint64_t bound_sum = 0;
  double worst_run = 0;  ///< oracle::CompareStats::worst_run
};

/// What `kerf_draw` draws: 0 to 10 are oracle::Pattern, then InputDistribution::Kind, then what integer dtypes get.
inline constexpr std::uint64_t kDrawGiven = 16, kDrawBools = 32, kDrawIntegers = 33;
/// What `kerf_mask` writes.
inline constexpr std::uint64_t kMaskExpected = 0, kMaskNarrowBound = 1, kMaskWideBound = 2;

inline constexpr int kThreads = 256;  ///< per block, of every judge kernel

std::string judge_source();         ///< all of it
const char* judge_oracle_source();  ///< the part that makes data sets on the device
/// Kernels "kerf_scrub_local_N" that overwrite N bytes of local memory in every thread, for N of kLocalScrubs. A
/// program of its own: local memory is reserved for the largest kernel that is loaded.
std::string judge_local_source();
inline constexpr std::uint64_t kLocalScrubs[] = {1024, 8192};
inline constexpr std::uint64_t kMostLocalBytes = 8192;  ///< per thread, of a candidate
std::vector<std::string> judge_entry_points();

}  // namespace kerf::cuda
