#pragma once
// Random changes to a text that keep it close to a valid one.

#include <string>
#include <vector>

#include "base/rng.hpp"

namespace kerf::fuzz {

/// One to four changes: flipped and replaced bytes, swapped, repeated and removed tokens, tokens of `dictionary` or of
/// another text of `corpus` put in, parts cut off, doubled, nested, or joined with another text.
std::string mutate(const std::vector<std::string>& corpus, const std::vector<std::string>& dictionary, Rng& rng);

}  // namespace kerf::fuzz
