#pragma once
// What a run's steps promise each other. A database that breaks it was damaged or made by hand.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/step.hpp"

namespace kerf::store {

/// Steps in the order of the database: numbered 1, 2, 3, ...; parents and what a decision was made from are earlier
/// steps, so that a family tree has no circles; cells, counts and figures are possible ones. The error (invalid_input)
/// names the run and the first step that is not so.
Status check_steps(const std::vector<Step>& steps, const std::string& run);

/// What is impossible about one step; "" for a good one. Its kernel must be the one that was judged.
std::string wrong_step(const Step& step);

/// The error for a run that cannot be used: "the run RUN is damaged: WHAT; ...".
tl::unexpected<Error> damaged(const std::string& run, const std::string& what);

}  // namespace kerf::store
