#pragma once
// Kernel code as tokens: where brackets, directives and functions end, and which identifiers are used between.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/c_lexer.hpp"

namespace kerf::synth {

using Tokens = std::vector<CToken>;
using Words = std::set<std::string>;

inline bool is_identifier(const CToken& token) { return token.kind == CTokenKind::identifier; }

/// Behind "." or "->".
bool is_member(const Tokens& tokens, std::size_t at);

/// Of code from token `from` to before `to`; those that are no members.
Words identifiers_between(const Tokens& tokens, std::size_t from, std::size_t to);

/// The token after the bracket that closes the one at `open`.
std::size_t after_bracket(const Tokens& tokens, std::size_t open);

/// The token after the directive that begins at `at`.
std::size_t after_directive(const Tokens& tokens, std::size_t at);

/// Whether a #define begins at `at`.
bool defines_macro(const Tokens& tokens, std::size_t at);

/// Macros and the words of their definitions; of several with one name, in branches of an #if, all words.
using Macros = std::map<std::string, Words>;
Macros macros_of(const Tokens& tokens);
/// Adds what the macros among `words` are made of.
void add_macro_words(const Macros& macros, Words& words);

/// Pieces of a list, each from a token to before another.
struct Piece {
  std::size_t begin = 0, end = 0;
};
/// What stands between the commas from `from` to before `to`, brackets closed.
std::vector<Piece> pieces_between(const Tokens& tokens, std::size_t from, std::size_t to);

}  // namespace kerf::synth
