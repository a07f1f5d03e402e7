#pragma once
// Small text functions used by parsers and error messages.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

/// The known word closest to `word` by edit distance, or "" when none is near (distance > 1/2 of the length).
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// " (did you mean 'axis'?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

std::string_view trim(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);  ///< keeps empty parts
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// "1 kernel", "3 kernels".
std::string counted(std::int64_t count, std::string_view noun);

/// True for [A-Za-z_][A-Za-z0-9_]*.
bool is_identifier(std::string_view text);

}  // namespace kerf
