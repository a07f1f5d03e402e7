#pragma once
// What toml++ must not be shown.

#include <cstddef>
#include <optional>
#include <string_view>

namespace kerf {

/// Why a text must not be parsed, and where.
struct TomlFault {
  std::size_t at;
  std::string_view what;
};

/// The first character beyond ASCII outside of strings and comments: TOML has no use for such characters, and
/// toml++ 3.3 has undefined behaviour on some of them. Or a key of more than 100 parts: toml++ goes one call deeper for
/// each.
std::optional<TomlFault> toml_fault(std::string_view text);

}  // namespace kerf
