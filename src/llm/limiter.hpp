#pragma once
// How often and how many at once: an endpoint's limits, kept by not asking too much.

#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "base/clock.hpp"

namespace kerf::llm {

struct RateLimits {
  int at_once = 2;                     ///< questions under way
  int requests_per_minute = 0;         ///< 0: no limit
  std::int64_t tokens_per_minute = 0;  ///< prompts as they are estimated and replies as they are granted; 0: no limit

  bool operator==(const RateLimits&) const = default;
};

/// Thread-safe. A question that alone exceeds the tokens of a minute is let through when the minute is empty.
class RateLimiter {
 public:
  RateLimiter(const RateLimits& limits, Clock& clock) : limits_(limits), clock_(clock) {}

  /// True: the question may be sent now, and `end` must be called after it.
  bool try_begin(std::int64_t tokens);
  void end();

 private:
  const RateLimits limits_;
  Clock& clock_;
  std::mutex mutex_;
  std::deque<std::pair<Nanoseconds, std::int64_t>> minute_;  // guarded by mutex_: begun in the last minute, with tokens
  int under_way_ = 0;                                        // guarded by mutex_
};

}  // namespace kerf::llm
