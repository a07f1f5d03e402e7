#pragma once
// A verdict in words that help to write the next kernel.

#include <string>

#include "model/evaluation.hpp"
#include "propose/proposer.hpp"

namespace kerf::agents {

/// Outcome, evidence, times, distance from the floor; compiler output whole.
std::string describe(const Evaluation& evaluation);

/// Where the search would like the next kernel to go; "" for no wish.
std::string describe(const Direction& direction);

/// "3.21 times as fast as naive", or the outcome's name.
std::string headline(const Evaluation& evaluation);

}  // namespace kerf::agents
