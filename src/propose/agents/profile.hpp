#pragma once
// What holds a kernel back: from the machine's counters where there are some, else from its distance to the machine's
// limits and from what its compiled code does.

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

enum class Evidence { counters, cost_model };

struct Profile {
  Bound bound = Bound::latency;
  Evidence evidence = Evidence::cost_model;
  std::string words;  ///< one sentence: the verdict, where it is from, the figures behind it, what it asks for
};

/// None where the counters that there are decide nothing.
std::optional<Profile> profile_from(const Counters& counters);

/// `on_host`: the kernel is a function for processors, and cells have the meaning they have there. Counters first, the
/// cost model where they decide nothing; none without either (a measurement against calibrated peaks).
std::optional<Profile> profile_of(const KernelRecord& kernel, bool on_host);

/// The profile as a line below the judge's words, "" without one.
std::string profile_text(const KernelRecord& kernel, bool on_host);

}  // namespace kerf::agents
