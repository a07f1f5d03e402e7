#include "base/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kerf {

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(std::int64_t count, std::int64_t grain, int threads,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(1, grain);
  const std::int64_t workers =
      std::min<std::int64_t>(threads > 0 ? threads : available_cores(), (count + grain - 1) / grain);
  if (workers <= 1) return body(0, count);
  // Four pieces a worker even out unequal cores without making the pieces small.
  const std::int64_t piece = std::max(grain, (count + 4 * workers - 1) / (4 * workers));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t begin; (begin = next.fetch_add(piece)) < count;) body(begin, std::min(begin + piece, count));
  };
  std::vector<std::thread> pool;
  for (std::int64_t i = 1; i < workers; ++i) pool.emplace_back(work);
  work();
  for (auto& thread : pool) thread.join();
}

}  // namespace kerf
