#include "propose/synth/calls.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "propose/synth/tokens.hpp"

namespace kerf::synth {
namespace {

/// The function whose parentheses open right before token `at`, past template arguments.
std::string called_before(const Tokens& tokens, std::size_t at) {
  if (at < 2 || !tokens[at - 1].is("(")) return {};
  at -= 2;
  if (tokens[at].is(">")) {
    int depth = 0;
    for (; at > 0; --at) {
      depth += tokens[at].is(">") - tokens[at].is("<");
      if (depth == 0) break;
    }
    if (at > 0) --at;
  }
  return is_identifier(tokens[at]) ? tokens[at].text : std::string();
}

}  // namespace

std::set<std::string> identifiers(std::string_view code) {
  const Tokens tokens = lex_c(code);
  return identifiers_between(tokens, 0, tokens.size());
}

std::vector<std::set<std::string>> identifiers_by_function(std::string_view code) {
  const Tokens tokens = lex_c(code);
  std::vector<std::set<std::string>> functions;
  const Macros macros = macros_of(tokens);
  std::size_t begin = 0;
  for (std::size_t t = 0; t < tokens.size();) {
    if (starts_directive(tokens[t])) {
      begin = t = after_directive(tokens, t);
    } else if (tokens[t].is("{")) {
      t = after_bracket(tokens, t);
      functions.push_back(identifiers_between(tokens, begin, t));
      begin = t;
    } else {
      if (tokens[t].is(";")) begin = t + 1;
      ++t;
    }
  }
  for (auto& words : functions) add_macro_words(macros, words);
  return functions;
}

std::string wrapped(std::string_view code) {
  constexpr std::size_t kWidth = 120;
  std::string result;
  for (std::string line : split(code, '\n')) {
    const std::size_t linkage = line.starts_with("extern \"C\"") ? 10 : 0;
    const bool fixed =
        line.find_first_of("\"#\\", linkage) != std::string::npos || line.find("//") != std::string::npos;
    std::vector<std::size_t> within;  // the bracket that the line before was broken in
    while (!fixed && line.size() > kWidth) {
      std::vector<std::size_t> open = within;
      std::size_t cut = 0, column = 0;
      for (std::size_t i = 0; i < kWidth; ++i) {
        if (line[i] == '(') open.push_back(i + 1);
        if (line[i] == ')' && !open.empty()) open.pop_back();
        if (line[i] == ',' && !open.empty() && (cut == 0 || open.back() <= column)) cut = i + 1, column = open.back();
      }
      if (cut == 0 || column + 20 > kWidth) break;
      result += line.substr(0, cut) + "\n";
      within = {column};
      line = std::string(column, ' ') + std::string(trim(line.substr(cut)));
    }
    result += line + "\n";
  }
  result.pop_back();
  return result;
}

std::string with_identifiers(std::string_view code, const std::map<std::string, std::string, std::less<>>& names) {
  std::string result;
  std::size_t copied = 0;
  for (const CToken& token : lex_c(code)) {
    if (!is_identifier(token)) continue;
    const auto found = names.find(token.text);
    if (found == names.end()) continue;
    result += code.substr(copied, token.begin - copied);
    result += found->second;
    copied = token.end;
  }
  return result += code.substr(copied);
}

std::string with_identifier(std::string_view code, std::string_view from, std::string_view to) {
  return with_identifiers(code, {{std::string(from), std::string(to)}});
}

CallResolver::CallResolver(std::string code, std::vector<BufferParameter> buffers)
    : code_(std::move(code)), tokens_(lex_c(code_)), buffers_(std::move(buffers)) {
  find_definitions();
}

void CallResolver::find_definitions() {
  const auto define = [&](std::string name, std::size_t from, std::size_t to) {
    Definition definition{std::move(name), {}, identifiers_between(tokens_, from, to)};
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (definition.uses.contains(buffers_[b].name)) definition.needs.insert(b);
    definitions_.push_back(std::move(definition));
  };
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    if (defines_macro(tokens_, t)) define(tokens_[t + 2].text, t + 3, after_directive(tokens_, t));
    if (t == 0 || !tokens_[t].is(kParametersMark)) continue;
    const std::size_t body = after_bracket(tokens_, t - 1);
    if (body < tokens_.size() && tokens_[body].is("{"))  // else it is declared only
      define(called_before(tokens_, t), body, after_bracket(tokens_, body));
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (Definition& user : definitions_)
      for (const Definition& used : definitions_) {
        if (!user.uses.contains(used.name)) continue;
        const std::size_t before = user.needs.size();
        user.needs.insert(used.needs.begin(), used.needs.end());
        grown = grown || user.needs.size() != before;
      }
  }
}

std::vector<std::size_t> CallResolver::needs(const std::string& function) const {
  std::set<std::size_t> all;
  bool known = false;
  for (const Definition& definition : definitions_)  // of several with one name, in branches of an #if, all count
    if (definition.name == function) {
      known = true;
      all.insert(definition.needs.begin(), definition.needs.end());
    }
  if (!known)
    for (std::size_t b = 0; b < buffers_.size(); ++b) all.insert(b);
  return {all.begin(), all.end()};
}

std::string CallResolver::list_for(const std::string& function, bool declarations) const {
  std::vector<std::string> parts;
  for (const std::size_t b : needs(function))
    parts.push_back(declarations ? buffers_[b].declaration : buffers_[b].name);
  return join(parts, ", ");
}

std::string CallResolver::resolved() const {
  std::string result;
  std::size_t copied = 0;
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const CToken& token = tokens_[t];
    if (!token.is(kParametersMark) && !token.is(kArgumentsMark)) continue;
    result += std::string_view(code_).substr(copied, token.begin - copied);
    const std::string list = list_for(called_before(tokens_, t), token.is(kParametersMark));
    result += list;
    copied = token.end;
    if (list.empty() && t + 2 < tokens_.size() && tokens_[t + 1].is(",")) copied = tokens_[++t + 1].begin;
  }
  return result += std::string_view(code_).substr(copied);
}

}  // namespace kerf::synth
