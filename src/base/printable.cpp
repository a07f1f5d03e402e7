#include "base/printable.hpp"

#include <cstddef>
#include <cstdint>

namespace kerf {
namespace {

/// One character of a text: its code point, or none where the bytes are not UTF-8, and how many bytes it takes.
struct Decoded {
  bool valid = false;
  std::uint32_t code = 0;
  std::size_t size = 1;
};

/// Bytes that begin a character but do not complete it are one invalid sequence.
Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {true, first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {false, 0, 1};
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || (byte(at + i) & 0xC0) != 0x80) return {false, 0, i};
    code = code << 6 | (byte(at + i) & 0x3Fu);
    const bool overlong = i == 1 && ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xF0 && byte(at + 1) < 0x90));
    const bool outside = i == 1 && ((first == 0xED && byte(at + 1) > 0x9F) || (first == 0xF4 && byte(at + 1) > 0x8F));
    if (overlong || outside) return {false, 0, 1};
  }
  return {true, code, length};
}

bool drives_terminal(std::uint32_t code) {
  const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
  const bool reorders =
      (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F;
  return control || reorders;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded one = decode(text, at);
    if (one.valid)
      result += text.substr(at, one.size);
    else
      result += "\xEF\xBF\xBD";
    at += one.size;
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded one = decode(text, at);
    if (one.valid && one.code == '\r') {
      // left out
    } else if (!one.valid || drives_terminal(one.code)) {
      result += '?';
    } else {
      result += text.substr(at, one.size);
    }
    at += one.size;
  }
  return result;
}

}  // namespace kerf
