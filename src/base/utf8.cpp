#include "base/utf8.hpp"

namespace kerf {

Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {true, first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {false, 0, 1};
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0) != 0x80) return {false, 0, i};
    code = code << 6 | (byte(i) & 0x3Fu);
    const bool overlong = i == 1 && ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90));
    const bool outside = i == 1 && ((first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F));
    if (overlong || outside) return {false, 0, 1};
  }
  return {true, code, length};
}

bool hides_text(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || (code >= 0xFE00 && code <= 0xFE0F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE0FFF);
}

}  // namespace kerf
