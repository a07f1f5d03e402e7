#include "propose/synth/tokens.hpp"

namespace kerf::synth {

bool is_member(const Tokens& tokens, std::size_t at) {
  return at > 0 && (tokens[at - 1].is(".") || (at > 1 && tokens[at - 2].is("-") && tokens[at - 1].is(">")));
}

Words identifiers_between(const Tokens& tokens, std::size_t from, std::size_t to) {
  Words words;
  for (std::size_t t = from; t < to; ++t)
    if (is_identifier(tokens[t]) && !is_member(tokens, t)) words.insert(tokens[t].text);
  return words;
}

std::size_t after_bracket(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t t = open; t < tokens.size(); ++t) {
    if (tokens[t].kind != CTokenKind::punctuator) continue;
    const char c = tokens[t].text[0];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return t + 1;
  }
  return tokens.size();
}

std::size_t after_directive(const Tokens& tokens, std::size_t at) {
  do ++at;
  while (at < tokens.size() && !tokens[at].first);
  return at;
}

bool defines_macro(const Tokens& tokens, std::size_t at) {
  return starts_directive(tokens[at]) && at + 2 < tokens.size() && tokens[at + 1].is("define");
}

Macros macros_of(const Tokens& tokens) {
  Macros macros;
  for (std::size_t t = 0; t < tokens.size(); ++t)
    if (defines_macro(tokens, t))
      macros[tokens[t + 2].text].merge(identifiers_between(tokens, t + 2, after_directive(tokens, t)));
  return macros;
}

void add_macro_words(const Macros& macros, Words& words) {
  if (macros.empty()) return;
  std::vector<std::string> open(words.begin(), words.end());
  while (!open.empty()) {  // macros may use each other
    const auto macro = macros.find(open.back());
    open.pop_back();
    if (macro == macros.end()) continue;
    for (const std::string& word : macro->second)
      if (words.insert(word).second) open.push_back(word);
  }
}

std::vector<Piece> pieces_between(const Tokens& tokens, std::size_t from, std::size_t to) {
  std::vector<Piece> pieces;
  std::size_t begin = from;
  for (std::size_t t = from; t < to;) {
    const char c = tokens[t].kind == CTokenKind::punctuator ? tokens[t].text[0] : ' ';
    if (c == ',') {
      pieces.push_back({begin, t});
      begin = ++t;
    } else {
      t = c == '(' || c == '[' || c == '{' ? after_bracket(tokens, t) : t + 1;
    }
  }
  if (from < to) pieces.push_back({begin, to});
  return pieces;
}

}  // namespace kerf::synth
