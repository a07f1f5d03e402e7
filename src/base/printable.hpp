#pragma once
// Text from outside (kernels, compilers, language models) made safe to store and to show.

#include <string>
#include <string_view>

namespace kerf {

/// Every byte sequence that is not UTF-8 replaced by U+FFFD, one per sequence.
std::string valid_utf8(std::string_view text);

/// Without what drives a terminal: control characters (other than newline and tab), C1 controls, marks that reorder
/// what is read, and bytes that are not UTF-8, each shown as '?'. Carriage returns are left out.
std::string printable(std::string_view text);

}  // namespace kerf
