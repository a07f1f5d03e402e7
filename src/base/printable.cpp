#include "base/printable.hpp"

#include "base/utf8.hpp"

namespace kerf {

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (next.valid)
      result += text.substr(0, next.size);
    else
      result += "\xEF\xBF\xBD";
    text.remove_prefix(next.size);
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const bool shown = next.valid && (next.code == '\n' || next.code == '\t' || !hides_text(next.code));
    if (shown)
      result += text.substr(0, next.size);
    else if (!next.valid || next.code != '\r')
      result += '?';
    text.remove_prefix(next.size);
  }
  return result;
}

}  // namespace kerf
