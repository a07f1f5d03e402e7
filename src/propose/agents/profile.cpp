#include "propose/agents/profile.hpp"

#include <fmt/format.h>

namespace kerf::agents {
namespace {

constexpr double kAtTheLimit = 0.6;      // of the speed of light: what bounds the task bounds the kernel
constexpr std::size_t kParallelism = 2;  // the cell's dimension
constexpr double kPlenty = 0.9;

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

std::optional<Profile> profile_of(const KernelRecord& kernel, bool on_host) {
  const auto* measured = std::get_if<Measurement>(&kernel.evaluation.outcome);
  const ShapeMeasurement* shape = measured == nullptr ? nullptr : main_shape(*measured);
  if (shape == nullptr || !shape->speed_of_light) return std::nullopt;
  const SpeedOfLight& light = *shape->speed_of_light;
  const double percent = 100 * light.fraction;
  if (light.fraction >= kAtTheLimit) {
    const bool memory = light.bound == "memory";
    const std::string more = light.fraction >= kPlenty ? "little is left to gain"
                             : memory                  ? "only moving fewer bytes or moving them better helps"
                                                       : "only fewer or better packed operations help";
    return Profile{memory ? Bound::memory : Bound::compute,
                   fmt::format("{} bound: it reaches {:.0f} % of the machine's limit; {}",
                               memory ? "Memory" : "Compute", percent, more)};
  }
  if (on_host && kernel.cell.size() > kParallelism && kernel.cell[kParallelism] == 0)
    return Profile{
        Bound::occupancy,
        fmt::format("Occupancy bound: it reaches {:.0f} % of the machine's limit and runs on one core; spread "
                    "the work over all of them",
                    percent)};
  return Profile{
      Bound::latency,
      fmt::format("Latency bound: it reaches only {:.0f} % of what {} allows, so neither bytes nor operations "
                  "hold it back; look for dependent operations, narrow access, idle workers and extra passes",
                  percent, light.bound)};
}

}  // namespace kerf::agents
