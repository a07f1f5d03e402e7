#pragma once
// Time is an input: code that needs it takes a Clock&.

#include <chrono>
#include <cstdint>

namespace kerf {

using Nanoseconds = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds now() = 0;       ///< monotonic, from an arbitrary origin
  virtual std::int64_t wall_ms() = 0;  ///< milliseconds since the Unix epoch; for records only
};

class SystemClock final : public Clock {
 public:
  Nanoseconds now() override {
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch());
  }
  std::int64_t wall_ms() override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

/// Moves only when told to.
class FakeClock final : public Clock {
 public:
  Nanoseconds time{0};
  Nanoseconds now() override { return time; }
  std::int64_t wall_ms() override { return time.count() / 1'000'000; }
};

}  // namespace kerf
