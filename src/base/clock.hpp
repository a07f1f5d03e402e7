#pragma once
// Time is an input: code that needs it takes a Clock&.

#include <atomic>
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

/// Moves only when told to. Thread-safe.
class FakeClock final : public Clock {
 public:
  void advance(Nanoseconds by) { time_ += by.count(); }
  Nanoseconds now() override { return Nanoseconds(time_.load()); }
  std::int64_t wall_ms() override { return time_.load() / 1'000'000; }

 private:
  std::atomic<Nanoseconds::rep> time_{0};
};

}  // namespace kerf
