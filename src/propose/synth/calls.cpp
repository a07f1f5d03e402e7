#include "propose/synth/calls.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace kerf::synth {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool starts_word(char c) { return in_word(c) && std::isdigit(static_cast<unsigned char>(c)) == 0; }

/// Where the comment, string or number that begins at `at` ends; `at` when none does.
std::size_t skip_opaque(std::string_view code, std::size_t at) {
  const char c = code[at];
  if (c == '/' && at + 1 < code.size() && code[at + 1] == '/') return std::min(code.find('\n', at), code.size());
  if (c == '/' && at + 1 < code.size() && code[at + 1] == '*') {
    const std::size_t end = code.find("*/", at + 2);
    return end == std::string_view::npos ? code.size() : end + 2;
  }
  if (c == '"') {
    for (std::size_t i = at + 1; i < code.size(); ++i) {
      if (code[i] == '\\')
        ++i;
      else if (code[i] == '"' || code[i] == '\n')
        return i + 1;
    }
    return code.size();
  }
  if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
    std::size_t end = at;
    while (end < code.size() && in_word(code[end])) ++end;
    return end;
  }
  return at;
}

/// Calls `take(position, word)` for every identifier.
template <class Take>
void each_identifier(std::string_view code, const Take& take) {
  for (std::size_t i = 0; i < code.size();) {
    if (const std::size_t end = skip_opaque(code, i); end != i) {
      i = end;
    } else if (starts_word(code[i])) {
      std::size_t last = i;
      while (last < code.size() && in_word(code[last])) ++last;
      take(i, code.substr(i, last - i));
      i = last;
    } else {
      ++i;
    }
  }
}

bool is_member(std::string_view code, std::size_t at) {
  return at > 0 && (code[at - 1] == '.' || (at > 1 && code[at - 2] == '-' && code[at - 1] == '>'));
}

/// The position after the bracket that closes the one at `open`.
std::size_t after_bracket(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size();) {
    if (const std::size_t end = skip_opaque(code, i); end != i) {
      i = end;
      continue;
    }
    if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
    if (code[i] == ')' || code[i] == ']' || code[i] == '}')
      if (--depth == 0) return i + 1;
    ++i;
  }
  return code.size();
}

/// The function whose parentheses open right before `at`, past template arguments.
std::string called_before(std::string_view code, std::size_t at) {
  const auto back = [&] {
    while (at > 0 && std::isspace(static_cast<unsigned char>(code[at - 1])) != 0) --at;
  };
  back();
  if (at == 0 || code[at - 1] != '(') return {};
  --at;
  back();
  if (at > 0 && code[at - 1] == '>') {
    int depth = 0;
    do {
      --at;
      depth += (code[at] == '>') - (code[at] == '<');
    } while (at > 0 && depth > 0);
    back();
  }
  std::size_t begin = at;
  while (begin > 0 && in_word(code[begin - 1])) --begin;
  return std::string(code.substr(begin, at - begin));
}

/// The text of a macro's definition from `at` on, with its continued lines.
std::size_t end_of_directive(std::string_view code, std::size_t at) {
  for (std::size_t i = at; i < code.size(); ++i)
    if (code[i] == '\n' && (i == 0 || code[i - 1] != '\\')) return i;
  return code.size();
}

}  // namespace

std::set<std::string> identifiers(std::string_view code) {
  std::set<std::string> words;
  each_identifier(code, [&](std::size_t at, std::string_view word) {
    if (!is_member(code, at)) words.emplace(word);
  });
  return words;
}

std::vector<std::set<std::string>> identifiers_by_function(std::string_view code) {
  std::vector<std::set<std::string>> functions;
  std::vector<std::pair<std::string, std::set<std::string>>> macros;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < code.size();) {
    if (const std::size_t end = skip_opaque(code, i); end != i) {
      i = end;
    } else if (code[i] == '#') {
      const std::size_t end = end_of_directive(code, i);
      std::string_view line = code.substr(i, end - i);
      if (line.starts_with("#define ")) {
        line.remove_prefix(8);
        const auto last = std::find_if_not(line.begin(), line.end(), in_word);
        macros.emplace_back(std::string(line.begin(), last), identifiers(line));
      }
      begin = i = end;
    } else if (code[i] == '{') {
      i = after_bracket(code, i);
      functions.push_back(identifiers(code.substr(begin, i - begin)));
      begin = i;
    } else {
      if (code[i] == ';') begin = i + 1;
      ++i;
    }
  }
  for (auto& words : functions)
    for (std::size_t round = 0; round < macros.size(); ++round)  // macros may use each other
      for (const auto& [name, used] : macros)
        if (words.contains(name)) words.insert(used.begin(), used.end());
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

std::string with_identifier(std::string_view code, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t copied = 0;
  each_identifier(code, [&](std::size_t at, std::string_view word) {
    if (word != from) return;
    result += code.substr(copied, at - copied);
    result += to;
    copied = at + word.size();
  });
  return result += code.substr(copied);
}

CallResolver::CallResolver(std::string code, std::vector<BufferParameter> buffers,
                           std::vector<ShortenedFunction> shortened)
    : code_(std::move(code)), buffers_(std::move(buffers)), shortened_(std::move(shortened)) {
  find_definitions();
}

void CallResolver::find_definitions() {
  const std::string_view code = code_;
  const auto define = [&](std::string name, std::string_view body) {
    Definition definition{std::move(name), {}, identifiers(body)};
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (definition.uses.contains(buffers_[b].name)) definition.needs.insert(b);
    definitions_.push_back(std::move(definition));
  };
  each_identifier(code, [&](std::size_t at, std::string_view word) {
    if (word == "define" && at > 0 && code[at - 1] == '#') {
      std::size_t begin = at + word.size();
      while (begin < code.size() && code[begin] == ' ') ++begin;
      std::size_t end = begin;
      while (end < code.size() && in_word(code[end])) ++end;
      define(std::string(code.substr(begin, end - begin)), code.substr(end, end_of_directive(code, end) - end));
    }
    if (word != kParametersMark) return;
    const std::size_t open = code.rfind('(', at);
    const std::size_t body = code.find_first_not_of(" \n", after_bracket(code, open));
    if (body == std::string_view::npos || code[body] != '{') return;  // declared only
    define(called_before(code, at), code.substr(body, after_bracket(code, body) - body));
  });
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

/// Copies the call whose parentheses open at `open` without what its function no longer takes; gives its end.
std::size_t CallResolver::rewrite_call(std::string_view text, std::size_t open, const std::string& function,
                                       std::string& result) const {
  const auto shortened = std::find_if(shortened_.begin(), shortened_.end(),
                                      [&](const ShortenedFunction& f) { return f.name == function; });
  const std::size_t end = after_bracket(text, open);
  std::vector<std::string> arguments;
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i < end;) {
    if (const std::size_t after = skip_opaque(text, i); after != i) {
      i = after;
    } else if (text[i] == '(' || text[i] == '[' || text[i] == '{') {
      i = after_bracket(text, i);
    } else {
      if (text[i] == ',' || i + 1 == end) {
        arguments.push_back(rewritten(text.substr(begin, i - begin)));
        begin = i + 1;
      }
      ++i;
    }
  }
  result += '(';
  bool first = true;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const bool kept = a == 0 || a > shortened->kept.size() || shortened->kept[a - 1];
    std::string argument = a == 0 ? list_for(function, false) : arguments[a];
    if (!kept || (a == 0 && argument.empty())) continue;
    if (!first) result += ',';
    result += first ? std::string(trim(argument)) : argument;
    first = false;
  }
  result += ')';
  return end;
}

std::string CallResolver::rewritten(std::string_view text) const {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t end = skip_opaque(text, i); end != i) {
      result += text.substr(i, end - i);
      i = end;
      continue;
    }
    if (!starts_word(text[i])) {
      result += text[i++];
      continue;
    }
    std::size_t last = i;
    while (last < text.size() && in_word(text[last])) ++last;
    const std::string word(text.substr(i, last - i));
    if (word == kParametersMark || word == kArgumentsMark) {
      const std::string list = list_for(called_before(text, i), word == kParametersMark);
      result += list;
      i = last;
      if (list.empty() && i < text.size() && text[i] == ',')
        i = std::min(text.find_first_not_of(" \n", i + 1), text.size());
      continue;
    }
    const bool shortened =
        std::any_of(shortened_.begin(), shortened_.end(), [&](const auto& f) { return f.name == word; });
    result += word;
    i = last;
    if (shortened && text.substr(last, 1 + kArgumentsMark.size()) == "(" + std::string(kArgumentsMark))
      i = rewrite_call(text, last, word, result);
  }
  return result;
}

std::string CallResolver::resolved() const { return rewritten(code_); }

}  // namespace kerf::synth
