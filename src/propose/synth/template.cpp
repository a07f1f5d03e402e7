#include "propose/synth/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.hpp"

namespace kerf::synth {
namespace {

constexpr int kDeepest = 8;  // values within values; more is a cycle

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(at, end - at);
}

Result<std::string> replace(std::string_view where, std::string_view text, const Lookup& lookup, int depth) {
  if (depth > kDeepest) return fail(Errc::invalid_input, fmt::format("{}: values refer to each other", where));
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$' || i + 1 >= text.size() || !starts_word(text[i + 1])) {
      result += text[i++];
      continue;
    }
    const std::string_view name = word_at(text, i + 1);
    const auto value = lookup(name);
    if (!value) return fail(Errc::invalid_input, fmt::format("{}: nothing is known as ${}", where, name));
    if (value->find('$') == std::string::npos) {
      result += *value;
    } else {
      KERF_TRY(const std::string inner, replace(where, *value, lookup, depth + 1));
      result += inner;
    }
    i += 1 + name.size();
  }
  return result;
}

/// Whether the condition of an `%if` line holds: "$FLAG", "!$FLAG", or two of them joined by "&&".
Result<bool> holds(std::string_view where, std::string_view condition, const Lookup& lookup) {
  bool all = true;
  while (!condition.empty()) {
    const std::size_t end = std::min(condition.find("&&"), condition.size());
    std::string_view term = trim(condition.substr(0, end));
    condition.remove_prefix(std::min(end + 2, condition.size()));
    const bool negated = term.starts_with('!');
    if (negated) term = trim(term.substr(1));
    const Result<std::string> value = replace(where, term, lookup, 0);
    if (!value) return tl::unexpected(value.error());
    if (*value != "0" && *value != "1")
      return fail(Errc::invalid_input, fmt::format("{}: '{}' is '{}', not 0 or 1", where, term, *value));
    all = all && ((*value == "1") != negated);
  }
  return all;
}

std::string rename(std::string_view text, const std::set<std::string>& taken) {
  std::string result;
  char quote = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && i + 1 < text.size())
        result += text[i++];
      else if (c == quote || c == '\n')
        quote = 0;
      result += text[i++];
    } else if (starts_word(c)) {
      const std::string_view word = word_at(text, i);
      const bool member = i > 0 && (text[i - 1] == '.' || (i > 1 && text[i - 2] == '-' && text[i - 1] == '>'));
      result += word;
      if (!member && taken.contains(std::string(word))) result += "_t";
      i += word.size();
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      const std::string_view number = word_at(text, i);  // suffixes are no identifiers
      result += number;
      i += number.size();
    } else {
      if (c == '"') quote = c;
      result += text[i++];
    }
  }
  return result;
}

}  // namespace

Result<std::string> substitute(std::string_view where, std::string_view text, const Lookup& lookup) {
  return replace(where, text, lookup, 0);
}

Result<std::string> expand(std::string_view file, std::string_view text, const Lookup& lookup,
                           const std::set<std::string>& taken) {
  struct Choice {
    bool parent, taken;  // whether the lines around it and in it are kept
  };
  std::vector<Choice> open;
  const auto kept = [&] { return open.empty() || (open.back().parent && open.back().taken); };
  std::string chosen;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    const std::string where = fmt::format("{}:{}", file, ++number);
    const std::string_view words = trim(line);
    if (words.starts_with("%if ")) {
      bool condition = false;
      if (kept()) {
        KERF_TRY(condition, holds(where, words.substr(4), lookup));
      }
      open.push_back({kept(), condition});
    } else if (words == "%else" || words == "%endif") {
      if (open.empty()) return fail(Errc::invalid_input, fmt::format("{}: {} without %if", where, words));
      if (words == "%else")
        open.back().taken = !open.back().taken;
      else
        open.pop_back();
    } else if (kept()) {
      KERF_TRY(const std::string done, replace(where, line, lookup, 0));
      chosen += done + "\n";
    }
  }
  if (!open.empty()) return fail(Errc::invalid_input, fmt::format("{}: %if without %endif", file));
  while (chosen.ends_with("\n\n")) chosen.pop_back();
  return rename(chosen, taken);
}

}  // namespace kerf::synth
