#pragma once
// Texts as Python source.

#include <string>
#include <string_view>

namespace kerf::exporting {

/// A string literal that can be read: between three quotes and raw where the text allows it, else escaped, a line of
/// the text per line.
std::string python_string(std::string_view text);

/// The text as comment lines.
std::string python_comment(std::string_view text);

}  // namespace kerf::exporting
