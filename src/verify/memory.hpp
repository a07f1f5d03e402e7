#pragma once
// Does judging a shape fit the machine? Asked before anything large is allocated.

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "model/task.hpp"

namespace kerf {

/// At least so many bytes are needed at the same time.
struct MemoryNeed {
  double host = 0;    ///< data sets in the judge's process: inputs, expected values and bounds in double precision
  double device = 0;  ///< copies of the buffers with their red zones
};

/// `slots` copies of the buffers on the device and `host_sets` data sets on the host. A lower bound: what the
/// reference computes on its way is not counted.
MemoryNeed memory_need(const Task& task, const ShapeSet& shape, int slots, int host_sets);

/// What there is, in bytes; 0 where it is not known (then everything fits).
struct MemoryThere {
  std::int64_t host = 0;
  std::int64_t device = 0;
  bool shared = false;  ///< the device's memory is the host's: both needs are met from `host`
};

/// An error names the shape, what it takes, what there is and what to try.
Status check_memory(const ShapeSet& shape, const MemoryNeed& need, const MemoryThere& there);

/// The same in the words of `check_memory` for an allocation that failed.
Error out_of_memory(const ShapeSet& shape, const MemoryNeed& need, const MemoryThere& there);

}  // namespace kerf
