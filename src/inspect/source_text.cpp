#include "inspect/source_text.hpp"

#include <cctype>

namespace kerf {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// End of the literal that starts at `at`; an unclosed one ends with its line.
std::size_t literal_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1;
    else if (text[i] == '\n')
      return i;
  }
  return text.size();
}

}  // namespace

std::string plain_source(std::string_view source) {
  std::string plain;
  const auto blank = [&] {
    if (!plain.empty() && plain.back() != ' ' && plain.back() != '\n') plain += ' ';
  };
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    if (source.substr(i, 2) == "/*") {
      const auto end = source.find("*/", i + 2);
      i = end == std::string_view::npos ? source.size() : end + 2;
      blank();
    } else if (source.substr(i, 2) == "//") {
      const auto end = source.find('\n', i);
      i = end == std::string_view::npos ? source.size() : end;
    } else if (source.substr(i, 2) == "\\\n") {
      i += 2;
      blank();
    } else if (c == '"' || (c == '\'' && (i == 0 || !is_word(source[i - 1])))) {  // not 1'000
      const auto end = literal_end(source, i);
      plain += source.substr(i, end - i);
      i = end;
    } else if (c == '\n') {
      while (!plain.empty() && plain.back() == ' ') plain.pop_back();
      if (!plain.empty() && plain.back() != '\n') plain += '\n';
      ++i;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank();
      ++i;
    } else {
      plain += c;
      ++i;
    }
  }
  return plain;
}

std::vector<std::string> tokens_of(std::string_view plain) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < plain.size();) {
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(plain[i])) != 0) {
      i = end;
      continue;
    }
    if (plain[i] == '"' || plain[i] == '\'') {
      end = literal_end(plain, i);
    } else if (is_word(plain[i])) {
      const bool number = std::isdigit(static_cast<unsigned char>(plain[i])) != 0;
      while (end < plain.size() && (is_word(plain[end]) || (number && (plain[end] == '.' || plain[end] == '\''))))
        ++end;
    }
    tokens.emplace_back(plain.substr(i, end - i));
    i = end;
  }
  return tokens;
}

}  // namespace kerf
