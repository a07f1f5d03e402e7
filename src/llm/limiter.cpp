#include "llm/limiter.hpp"

#include <algorithm>

namespace kerf::llm {

bool RateLimiter::try_begin(std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = clock_.now();
  while (!minute_.empty() && now - minute_.front().first >= std::chrono::minutes(1)) minute_.pop_front();
  std::int64_t taken = 0;
  for (const auto& [at, one] : minute_) taken += one;
  const bool free = under_way_ < std::max(1, limits_.at_once);
  const bool requests =
      limits_.requests_per_minute <= 0 || minute_.size() < static_cast<std::size_t>(limits_.requests_per_minute);
  const bool amount = limits_.tokens_per_minute <= 0 || minute_.empty() || taken + tokens <= limits_.tokens_per_minute;
  if (!free || !requests || !amount) return false;
  ++under_way_;
  minute_.emplace_back(now, tokens);
  return true;
}

void RateLimiter::end() {
  const std::lock_guard lock(mutex_);
  --under_way_;
}

}  // namespace kerf::llm
