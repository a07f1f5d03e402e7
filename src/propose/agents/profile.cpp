#include "propose/agents/profile.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"

namespace kerf::agents {
namespace {

constexpr double kAtTheLimit = 0.6;      // of a limit: what is used so much is what holds the kernel back
constexpr std::size_t kParallelism = 2;  // the cell's dimension
constexpr double kPlenty = 0.9;
constexpr double kBusyCores = 0.6;      // fewer of the cores than this are too few workers
constexpr double kBusyWarps = 0.3;      // the same of the warps that fit on a GPU: more hide most waiting
constexpr double kMostlyStalled = 0.5;  // of a core's cycles
constexpr double kManyMisses = 5;       // of the last-level cache, per thousand instructions
constexpr double kManyPerCycle = 2;     // instructions that a core retires when its units are the limit

std::string advice(Bound bound) {
  switch (bound) {
    case Bound::memory: return "only moving fewer bytes or moving them better helps";
    case Bound::compute: return "only fewer or better packed operations help";
    case Bound::occupancy: return "spread the work over more of them";
    case Bound::latency: break;
  }
  return "look for dependent operations, narrow access, idle workers and extra passes";
}

std::string capital(std::string_view word) {
  std::string text(word);
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::optional<Bound> decide(const Counters& counters) {
  if (counters.memory >= kAtTheLimit) return Bound::memory;
  if (counters.compute >= kAtTheLimit) return Bound::compute;
  if (counters.workers && *counters.workers < (counters.on_host ? kBusyCores : kBusyWarps)) return Bound::occupancy;
  if (counters.stalled >= kMostlyStalled) return counters.misses >= kManyMisses ? Bound::memory : Bound::latency;
  if (counters.per_cycle >= kManyPerCycle) return Bound::compute;
  const bool decided = counters.per_cycle || (counters.memory && counters.compute);
  return decided ? std::optional(Bound::latency) : std::nullopt;
}

std::string figures(const Counters& counters) {
  std::vector<std::string> parts;
  const auto percent = [&](std::optional<double> value, const char* of) {
    if (value) parts.push_back(fmt::format("{:.0f} % of {}", 100 * *value, of));
  };
  percent(counters.memory, "the memory bandwidth");
  percent(counters.compute, "the multiprocessors' throughput");
  percent(counters.workers, counters.on_host ? "the cores busy" : "the warps that fit active");
  percent(counters.stalled, "the cycles stalled");
  if (counters.per_cycle) parts.push_back(fmt::format("{:.1f} instructions per cycle", *counters.per_cycle));
  if (counters.misses) parts.push_back(fmt::format("{:.1f} cache misses per 1000 instructions", *counters.misses));
  return join(parts, ", ");
}

Profile from_cost_model(const KernelRecord& kernel, const SpeedOfLight& light, bool on_host) {
  const double percent = 100 * light.fraction;
  const auto made = [&](Bound bound, const std::string& rest) {
    return Profile{bound, Evidence::cost_model,
                   fmt::format("{} bound by the cost model{}: it reaches {}", capital(bound_name(bound)),
                               kernel.counters ? " (the machine's counters decide nothing)" : "", rest)};
  };
  if (light.fraction >= kAtTheLimit) {
    const Bound bound = light.bound == "memory" ? Bound::memory : Bound::compute;
    return made(bound, fmt::format("{:.0f} % of the machine's limit; {}", percent,
                                   light.fraction >= kPlenty ? "little is left to gain" : advice(bound)));
  }
  if (on_host && kernel.cell.size() > kParallelism && kernel.cell[kParallelism] == 0)
    return made(
        Bound::occupancy,
        fmt::format("{:.0f} % of the machine's limit and runs on one core; spread the work over all of them", percent));
  return made(Bound::latency,
              fmt::format("only {:.0f} % of what {} allows, so neither bytes nor operations hold it back; {}", percent,
                          light.bound, advice(Bound::latency)));
}

}  // namespace

std::string_view bound_name(Bound bound) {
  switch (bound) {
    case Bound::memory: return "memory";
    case Bound::compute: return "compute";
    case Bound::occupancy: return "occupancy";
    case Bound::latency: break;
  }
  return "latency";
}

std::optional<Profile> profile_from(const Counters& counters) {
  const auto bound = decide(counters);
  if (!bound) return std::nullopt;
  return Profile{*bound, Evidence::counters,
                 fmt::format("{} bound by the machine's counters ({}): {}; {}", capital(bound_name(*bound)),
                             counters.source, figures(counters), advice(*bound))};
}

std::optional<Profile> profile_of(const KernelRecord& kernel, bool on_host) {
  if (kernel.counters)
    if (auto counted = profile_from(*kernel.counters)) return counted;
  const auto* measured = std::get_if<Measurement>(&kernel.evaluation.outcome);
  const ShapeMeasurement* shape = measured == nullptr ? nullptr : main_shape(*measured);
  if (shape == nullptr || !shape->speed_of_light) return std::nullopt;
  return from_cost_model(kernel, *shape->speed_of_light, on_host);
}

std::string profile_text(const KernelRecord& kernel, bool on_host) {
  const auto profile = profile_of(kernel, on_host);
  return profile ? profile->words + ".\n" : "";
}

}  // namespace kerf::agents
