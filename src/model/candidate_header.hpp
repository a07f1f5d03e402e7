#pragma once
// The text level of a candidate's header: where it is and which `key: value` entries it holds.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kerf {

/// One entry; continuation lines are joined with spaces.
struct HeaderEntry {
  std::string key;
  std::string value;
  int line = 0;  ///< of the key, counted from 1 in the whole file
};

/// Offset just behind the word "kerf" of the header comment, or npos.
std::size_t find_header(std::string_view source);

/// Entries of the first comment that starts with "/* kerf"; none when there is no such comment. An entry goes on over
/// following lines while its brackets are open. Lines that start with '#' are comments; a leading '*' (as in decorated
/// comments) is ignored. Errors start with "LINE: ".
Result<std::vector<HeaderEntry>> read_header(std::string_view source, const std::vector<std::string>& known_keys);

/// Parts of `text` between separators that lie outside every bracket; trimmed.
std::vector<std::string> split_outside_brackets(std::string_view text, char separator);

}  // namespace kerf
