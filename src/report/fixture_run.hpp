#pragma once
// A run made up for tests: real kernels of a real task and a search that is played with a seed, written through
// RunStore.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace kerf::report {

struct FixtureOptions {
  std::string target = "cpu";  ///< "cpu", "opencl" or "cuda"
  int steps = 120;
  std::uint64_t seed = 17;
  bool finished = true;
  bool peaks = true;  ///< the device was calibrated
  double speed = 1;   ///< every speedup is multiplied by this: 0.09 makes the winner slower than naive
};

/// The task that its kernels solve: RMS norm with two timed shape sets and one odd one.
std::string fixture_task();
/// A kernel of that task. Levels say how it is written: 0 plain, 1 row at a time, 2 lanes, 3 lanes and blocks.
std::string fixture_kernel(const std::string& target, int level, int block, int unroll);

/// Writes a run to `folder`: starts, a search with failures of every kind, a tuning stage, a final one. The last kernel
/// (level 3) is the best; its sources are right for every shape.
Status write_fixture_run(const std::filesystem::path& folder, const FixtureOptions& options);

}  // namespace kerf::report
