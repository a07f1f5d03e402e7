#pragma once
// Which candidates are the same program written differently.

#include <string>

#include "ir/dim.hpp"
#include "judge/judge.hpp"
#include "model/candidate.hpp"

namespace kerf {

/// Hash of the source without comments and layout, the header's launches, scratch buffers and requirements, and the
/// tunables in use. Lists of other values that a tunable could take do not count.
std::string source_identity(const Candidate& candidate, const Bindings& tunables);

/// Hash of the compiled code and of the launches as numbers, on every timed shape: candidates with the same one do the
/// same work, however they are written and whatever their tunables are.
std::string code_identity(const LaunchPlan& plan, const Judge::Compiled& compiled);

}  // namespace kerf
