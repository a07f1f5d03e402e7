#pragma once
// Arithmetic with the literals 0 and 1 that values leave in a text: "x * 1", "1 + 0 * 1".

#include <string>
#include <string_view>

namespace kerf::synth {

enum class Literals { code, header };  ///< a header has integers only

/// `text` without operations that change nothing. In code, sums lose a zero only where they are integers by their form;
/// nothing that may be a floating-point sum is touched, and products keep their value, rounding and NaN.
std::string folded(std::string_view text, Literals kind);

}  // namespace kerf::synth
