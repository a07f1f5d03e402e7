#pragma once
// Kernels are written for people: what the pieces of a template leave unused in a composition is left out.

#include <set>
#include <string>
#include <string_view>

namespace kerf::synth {

/// `code`, a sequence of declarations, without functions that are never called, parameters that their function does not
/// use (and the arguments for them) and local variables that nothing reads. The functions `entries`, which are called
/// from outside, and the buffers that calls.hpp fills in stay as they are; so does what cannot be understood.
std::string without_unused(std::string_view code, const std::set<std::string>& entries);

}  // namespace kerf::synth
