#pragma once
// What a scanner saw, in the terms of the archive's dimensions. Private to this room.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/cell.hpp"
#include "model/artifact.hpp"
#include "model/candidate.hpp"

namespace kerf {

enum Dimension { kMemory = 0, kCompute = 1, kParallelism = 2 };

/// Reasons for each level of each dimension; the highest level with a reason is the kernel's. Level 0 needs none.
struct Evidence {
  std::array<std::array<std::string, kLevels>, kDimensions> reasons;
  std::map<std::string, std::int64_t> seen;

  /// Notes a reason; the first one given for a level stays.
  void add(Dimension dimension, int level, const std::string& reason) {
    auto& place = reasons[static_cast<std::size_t>(dimension)][static_cast<std::size_t>(level)];
    if (place.empty()) place = reason;
  }
};

/// One innermost loop, as instruction scanners sum it up.
struct LoopFacts {
  int fma = 0, add = 0, maximum = 0, divide = 0, exponential = 0, loads = 0;
  int carried = 0;  ///< floating-point values that live from one turn to the next: accumulators
};

/// Compute levels that follow from loops: online or streaming sums (2), register tiles of accumulators (3).
void judge_loops(const std::vector<LoopFacts>& loops, int tile_accumulators, Evidence& evidence);

Evidence scan_ptx(std::string_view ptx, const Artifact& artifact, const Candidate& candidate,
                  const Bindings& constants);
Evidence scan_tokens(const Candidate& candidate, const Bindings& constants);
/// False when the bytes are not a shared object for x86-64.
bool scan_object_code(std::string_view bytes, Evidence& evidence);

/// Buffers that one launch fills and a later one reads: launches that work together.
bool launches_cooperate(const LaunchPlan& plan);

}  // namespace kerf
