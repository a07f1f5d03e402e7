#include "base/toml_text.hpp"

#include <algorithm>
#include <string>

namespace kerf {
namespace {

/// Skips the string that starts at `i`, as TOML closes it; a one-line string ends at the latest with its line.
std::size_t skip_string(std::string_view text, std::size_t i) {
  const char quote = text[i];
  const bool escapes = quote == '"';
  const std::string triple(3, quote);
  const bool block = text.substr(i, 3) == triple;
  for (i += block ? 3 : 1; i < text.size(); ++i) {
    if (escapes && text[i] == '\\') {
      ++i;
    } else if (block && text.substr(i, 3) == triple) {
      i += 3;
      for (int extra = 0; extra < 2 && i < text.size() && text[i] == quote; ++extra)
        ++i;  // quotes before the closing ones
      return i;
    } else if (!block && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::optional<TomlFault> toml_fault(std::string_view text) {
  constexpr int kMostDots = 100;
  int dots = 0;  // since a key or value can have begun
  std::size_t i = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  char last = '\n';  // the last character that is not blank; decides whether a quote can open a string
  while (i < text.size()) {
    if (text[i] != ' ' && text[i] != '\t' && text[i] != '"' && text[i] != '\'') last = text[i];
    const bool quote = text[i] == '"' || text[i] == '\'';
    if (quote && std::string_view("\n=[{,.").find(last) != std::string_view::npos) {
      i = skip_string(text, i);
      last = i > 0 && text[i - 1] == '\n' ? '\n' : '"';
    } else if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (static_cast<unsigned char>(text[i]) >= 0x80) {
      return TomlFault{i, "a character beyond ASCII outside of quotes and comments"};
    } else {
      if (text[i] == '.' && ++dots > kMostDots) return TomlFault{i, "a key of more than 100 parts"};
      if (text[i] == '\n' || text[i] == '=' || text[i] == ',' || text[i] == '{' || text[i] == '[') dots = 0;
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace kerf
