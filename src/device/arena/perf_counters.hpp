#pragma once
// The kernel's performance counters (perf_event_open) of another process, opened from outside of its sandbox.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf::arena {

/// Counts what all threads of a process do in user mode, and the threads that they start. Not thread-safe.
class PerfCounters {
 public:
  /// Stopped. Unavailable, with the kernel's words and what to try, where not even time can be counted; counters that
  /// the machine lacks (virtual machines often have none but time) are left out.
  static Result<PerfCounters> open(int process);

  void start();
  void stop();
  /// By name (counter_names); counters that took turns on the hardware are scaled to the whole time. Threads that were
  /// started later count with the one that started them.
  std::map<std::string, double> values() const;

 private:
  struct Event {
    std::string_view name;
    double scale = 1;  // to the unit of its name
    UniqueFd file;
  };
  void control(unsigned long request);

  std::vector<Event> events_;  // one per counter and thread
};

}  // namespace kerf::arena
