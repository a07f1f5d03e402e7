#pragma once
// Names from outside, as they may be shown.

#include <string>
#include <string_view>

namespace kerf {

/// A name as it may be shown on one line of a terminal or a page: line breaks, control characters, characters that
/// reorder or hide text, and bytes that are not UTF-8 are written as escapes: "a\nb", "\u202e".
std::string one_line(std::string_view text);

}  // namespace kerf
