#include "measure/counters.hpp"

#include <algorithm>
#include <cmath>

namespace kerf {
namespace {

constexpr double kLineBytes = 64;  // of a processor's caches

std::optional<double> value_of(const Counted& counted, const char* name) {
  const auto found = counted.values.find(name);
  if (found == counted.values.end() || !std::isfinite(found->second) || found->second < 0) return std::nullopt;
  return found->second;
}

std::optional<double> ratio(std::optional<double> above, std::optional<double> below, double scale = 1) {
  if (!above || !below || *below <= 0) return std::nullopt;
  return scale * *above / *below;
}

std::optional<double> share(std::optional<double> value) {
  return value ? std::optional(std::min(*value, 1.0)) : std::nullopt;
}

std::optional<double> percent(const Counted& counted, const char* name) {
  return share(ratio(value_of(counted, name), 100));
}

}  // namespace

Counters counters_of(const Counted& counted, const DeviceFacts& facts, const Peaks* peaks) {
  Counters counters;
  counters.source = counted.source;
  counters.on_host = facts.runs_on_host;
  // What others do on the cores lengthens the wall clock's time of a call, but not the time that its threads run.
  const auto busiest = value_of(counted, counter_names::busiest_us);
  const auto instructions = value_of(counted, counter_names::instructions);
  const auto cycles = value_of(counted, counter_names::cycles);
  const auto misses = value_of(counted, counter_names::cache_misses);
  counters.per_cycle = ratio(instructions, cycles);
  counters.stalled = share(ratio(value_of(counted, counter_names::stalled_cycles), cycles));
  counters.misses = ratio(misses, instructions, 1000);
  counters.workers = share(ratio(value_of(counted, counter_names::task_clock_us),
                                 busiest ? std::optional(*busiest * std::max(1, facts.compute_units)) : std::nullopt));
  if (peaks != nullptr)  // lines that were fetched; what is written back on top of that is not counted
    if (const auto copy = peaks->rates.find("copy"); copy != peaks->rates.end())
      counters.memory =
          share(ratio(misses, busiest ? std::optional(*busiest * 1e-6 * copy->second) : std::nullopt, kLineBytes));
  if (const auto dram = percent(counted, counter_names::gpu_memory_percent)) counters.memory = dram;
  counters.compute = percent(counted, counter_names::gpu_compute_percent);
  if (const auto warps = percent(counted, counter_names::gpu_warps_percent)) counters.workers = warps;
  return counters;
}

}  // namespace kerf
