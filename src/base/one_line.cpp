#include "base/one_line.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace kerf {

std::string one_line(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const std::string_view bytes = text.substr(0, next.size);
    if (!next.valid)
      for (const char byte : bytes) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    else if (next.code == '\n' || next.code == '\r' || next.code == '\t')
      shown += next.code == '\n' ? "\\n" : next.code == '\r' ? "\\r" : "\\t";
    else if (hides_text(next.code))
      shown += next.code < 0x80 ? fmt::format("\\x{:02x}", next.code) : fmt::format("\\u{:04x}", next.code);
    else
      shown += bytes;
    text.remove_prefix(next.size);
  }
  return shown;
}

}  // namespace kerf
