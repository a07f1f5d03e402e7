#pragma once
// Values for a candidate's tunables.

#include "base/result.hpp"
#include "model/candidate.hpp"

namespace kerf {

/// Which values may be given: those that the candidate's header lists, or any integer (for a caller who asks for what
/// the header does not promise to work).
enum class TunableValues { declared, any };

/// Tunables given by the user, the rest at their defaults. An error names an unknown tunable, or a value that is not
/// declared with those that are.
Result<Bindings> resolve_tunables(const Candidate& candidate, const Bindings& given,
                                  TunableValues allowed = TunableValues::declared);

}  // namespace kerf
