#pragma once
// Source text as a compiler sees it: without comments, and as tokens.

#include <string>
#include <string_view>
#include <vector>

namespace kerf {

/// Without comments; runs of blanks become one, empty lines go. String and character literals stay as they are.
std::string plain_source(std::string_view source);

/// Identifiers, numbers and single punctuation characters of a plain source; string literals are one token each.
std::vector<std::string> tokens_of(std::string_view plain);

}  // namespace kerf
