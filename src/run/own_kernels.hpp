#pragma once
// Kernels that the user wrote, as first guesses of a search.

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "propose/proposer.hpp"

namespace kerf {

/// Proposes the kernels in their order, before any other first guess. Nothing else can be asked of it; its kernels have
/// no genome, so that only tuning and measuring again work on them.
std::unique_ptr<Proposer> make_own_kernels(std::vector<Candidate> kernels);

/// The kernels as a run keeps them: JSON [{name, source}].
std::string to_json(const std::vector<Candidate>& kernels);
Result<std::vector<Candidate>> kernels_from_json(const std::string& text, const std::string& target);

}  // namespace kerf
