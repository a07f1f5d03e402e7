#pragma once
// Data parallelism over index ranges.

#include <cstdint>
#include <functional>

namespace kerf {

/// Number of processors this process may use (affinity mask), at least 1.
int available_cores();

/// Calls `body(begin, end)` on disjoint pieces that cover [0, count), on up to `threads` threads (0: all cores), and
/// waits for all. Pieces hold at least `grain` indices, so small ranges run on the caller's thread alone. `body` must
/// not throw and must not depend on where the pieces are cut.
void parallel_for(std::int64_t count, std::int64_t grain, int threads,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body);

}  // namespace kerf
