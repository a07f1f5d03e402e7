#pragma once
// Arithmetic with the literals 0 and 1 that values leave in a text: "x * 1", "1 + 0 * 1".

#include <string>
#include <string_view>

namespace kerf::synth {

enum class Literals { code, header };  ///< a header has integers only

/// `text` without operations that change nothing, floating-point values included: NaN, the sign of zero and rounding
/// are kept. So in code "+ 0" and "0 +" go in subscripts only, where sums are integers, and "0 * x" stays.
std::string folded(std::string_view text, Literals kind);

}  // namespace kerf::synth
