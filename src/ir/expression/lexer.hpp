#pragma once
// Text of an expression to tokens.

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/expression/source.hpp"

namespace kerf::ir {

enum class TokenKind { integer, real, text, name, symbol, newline, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t at = 0;     ///< offset of the first byte
  std::string_view text;  ///< of a string, without the quotes
  std::int64_t integer = 0;
  double real = 0;

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  bool is_word(std::string_view word) const { return kind == TokenKind::name && text == word; }
};

/// Tokens with a final `end`. A newline inside brackets and a ';' are what Python makes of them: nothing, and a
/// newline.
Result<std::vector<Token>> tokenize(const Source& source);

}  // namespace kerf::ir
