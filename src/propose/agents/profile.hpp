#pragma once
// What holds a kernel back, from its distance to the machine's limits and from what its compiled code does.

#include <optional>
#include <string>
#include <string_view>

#include "propose/proposer.hpp"

namespace kerf::agents {

enum class Bound {
  memory,     ///< the bytes that must move
  compute,    ///< the operations that must be done
  occupancy,  ///< too few workers
  latency,    ///< waiting: dependent operations, stalls, narrow access
};
std::string_view bound_name(Bound bound);

struct Profile {
  Bound bound = Bound::latency;
  std::string words;  ///< one sentence: the verdict, the figure behind it, what it asks for
};

/// `on_host`: cells have the meaning they have for processors. None without a measurement against calibrated peaks.
/// There are no hardware counters behind it: the verdict comes from the cost model.
std::optional<Profile> profile_of(const KernelRecord& kernel, bool on_host);

}  // namespace kerf::agents
