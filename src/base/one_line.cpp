#include "base/one_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kerf {
namespace {

/// The character at the beginning of `text` and its length in bytes; length 0 for what is not UTF-8.
std::pair<std::uint32_t, std::size_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || text.size() < length) return {0, 0};
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool whole = code >= kSmallest[length] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
  return whole ? std::pair{code, length} : std::pair{std::uint32_t{0}, std::size_t{0}};
}

/// Controls, line separators, and characters that have no width or change the direction of what follows.
bool hides_text(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || (code >= 0xFE00 && code <= 0xFE0F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE0FFF);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (length == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (code == '\n' || code == '\r' || code == '\t')
      shown += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    else if (hides_text(code))
      shown += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    else
      shown += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

}  // namespace kerf
