#pragma once
// What toml++ must not be shown.

#include <cstddef>
#include <optional>
#include <string_view>

namespace kerf {

/// Where the first character beyond ASCII outside of strings and comments is; none: the text may be parsed. TOML has no
/// use for such characters, and toml++ 3.3 has undefined behaviour on some of them.
std::optional<std::size_t> beyond_ascii(std::string_view text);

}  // namespace kerf
