#pragma once
// A kernel file carries what it uses of the dialect layer, not all of it.

#include <string>
#include <string_view>

namespace kerf::synth {

/// The declarations of `layer` that `code` uses, directly or through each other, in their order. A comment goes with
/// the declaration under it. What cannot be understood stays. The layer must not build names by pasting (`##`).
std::string used_part(std::string_view layer, std::string_view code);

}  // namespace kerf::synth
