#pragma once
// Runs one pass over a region's positions on several threads.

#include <cstddef>
#include <span>
#include <vector>

#include "ir/interpret/memory.hpp"
#include "ir/interpret/schedule.hpp"

namespace kerf::ir::eval {

/// Memory of a pass, in the order of the program's sources, stores and the step's reductions. A reduction's target has
/// outer * inner elements of the pass's split, of storage f64, i64 or bool.
struct RegionBuffers {
  struct Target {
    std::byte* data;
    DType storage;
  };
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> stores;
  std::vector<Target> reductions;
};

/// Results do not depend on `threads`: how sums are grouped follows from the extents alone.
Status run_region(const RegionStep& step, const RegionBuffers& buffers, Memory& memory, int threads);

/// Reduces an array of lanes (f64 or i64) in memory.
Status reduce_buffer(ReduceOp op, bool floating, const std::byte* source, const Split& split,
                     const RegionBuffers::Target& target, Memory& memory, int threads);

}  // namespace kerf::ir::eval
