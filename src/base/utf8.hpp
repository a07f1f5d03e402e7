#pragma once
// Characters of a text from outside: decoded, and those that must not be shown as they are.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kerf {

/// One character of a text: its code point, or none where the bytes are not UTF-8, and how many bytes it takes.
struct Utf8Character {
  bool valid = false;
  std::uint32_t code = 0;
  std::size_t size = 1;
};

/// The character at the beginning of `text`, which is not empty. Bytes that begin a character but do not complete it
/// are one invalid sequence.
Utf8Character first_character(std::string_view text);

/// Controls, line separators, and characters that have no width or change the direction of what follows.
bool hides_text(std::uint32_t code);

}  // namespace kerf
