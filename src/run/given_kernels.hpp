#pragma once
// A mind that has its kernels before the search begins: those of a memory, or that skills ask for.

#include <memory>
#include <string_view>
#include <vector>

#include "propose/proposer.hpp"

namespace kerf {

/// Proposes each of `kernels` once, as first guesses and in their order. `name` outlives it.
std::unique_ptr<Proposer> make_given_kernels(std::string_view name, std::vector<Proposal> kernels);

}  // namespace kerf
