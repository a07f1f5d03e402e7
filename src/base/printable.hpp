#pragma once
// Text from outside (kernels, compilers, language models) made safe to store and to show.

#include <string>
#include <string_view>

namespace kerf {

/// Every byte sequence that is not UTF-8 replaced by U+FFFD, one per sequence.
std::string valid_utf8(std::string_view text);

/// Text of several lines without what drives a terminal or hides text: every character that `one_line` escapes, other
/// than newline and tab, is shown as '?', and so is what is not UTF-8. Carriage returns are left out.
std::string printable(std::string_view text);

}  // namespace kerf
