#pragma once
// The one lexer of C, C++, CUDA C++ and OpenCL C source text, as far as tools that look at kernels need it: comments
// are gone, lines joined by a backslash are one line, literals (raw strings too) are one token each.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

enum class CTokenKind { identifier, number, string, character, punctuator };

struct CToken {
  CTokenKind kind = CTokenKind::punctuator;
  std::string text;          ///< its spelling without line splices; punctuators are single characters
  std::size_t begin = 0;     ///< where it starts in the source, in bytes
  std::size_t end = 0;       ///< one past its last byte
  int line = 1;              ///< of its first character; the first line is 1
  bool first = false;        ///< the first token of its line, joined lines counted as one
  bool after_blank = false;  ///< blanks, a comment or a line's end stand before it

  bool is(std::string_view spelling) const { return text == spelling; }
};

struct CLexOptions {
  /// "??=" is "#" and "??/" before a line's end joins lines: so read compilers of OpenCL C and of strict C before C23.
  /// GNU dialects and C++17 leave them alone.
  bool trigraphs = false;
};

/// Never fails: an unclosed comment ends with the text, an unclosed literal with its line. Digraphs are given by what
/// they stand for ("%:" is "#").
std::vector<CToken> lex_c(std::string_view source, const CLexOptions& options = {});

/// True for the "#" that makes its line a preprocessor directive.
inline bool starts_directive(const CToken& token) { return token.first && token.is("#"); }

/// Lines as a compiler sees them: tokens from one `first` to the next.
std::vector<std::vector<CToken>> logical_lines(const std::vector<CToken>& tokens);

/// Tokens as text again: one line each logical line, one blank where blanks or comments were.
std::string plain_source(std::string_view source);

}  // namespace kerf
