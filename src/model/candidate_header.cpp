#include "model/candidate_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.hpp"

namespace kerf {
namespace {

constexpr std::size_t kMaxHeaderBytes = 16 << 10;

int line_at(std::string_view source, std::size_t offset) {
  return 1 + static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// Brackets still open at the end of `text`; "<<<" counts as one, closed by ">>>". Negative: more closed than opened.
int open_brackets(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto three = text.substr(i, 3);
    if (three == "<<<" || three == ">>>") {
      depth += three == "<<<" ? 1 : -1;
      i += 2;
    } else if (std::string_view("([{").find(text[i]) != std::string_view::npos) {
      ++depth;
    } else if (std::string_view(")]}").find(text[i]) != std::string_view::npos) {
      --depth;
    }
  }
  return depth;
}

/// The key of a line that reads "key: ...", or nothing.
std::optional<std::string_view> key_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto key = trim(line.substr(0, colon));
  return is_identifier(key) ? std::optional(key) : std::nullopt;
}

}  // namespace

std::size_t find_header(std::string_view source) {
  for (std::size_t at = 0; (at = source.find("/*", at)) != std::string_view::npos; at += 2) {
    std::size_t word = at + 2;
    while (word < source.size() && std::isspace(static_cast<unsigned char>(source[word]))) ++word;
    if (source.substr(word, 4) != "kerf") continue;
    word += 4;
    if (word >= source.size() || std::isspace(static_cast<unsigned char>(source[word]))) return word;
    if (source.substr(word, 2) == "*/") return word;
  }
  return std::string_view::npos;
}

Result<std::vector<HeaderEntry>> read_header(std::string_view source, const std::vector<std::string>& known_keys) {
  const std::size_t begin = find_header(source);
  if (begin == std::string_view::npos) return std::vector<HeaderEntry>{};
  const int first_line = line_at(source, begin);
  const std::size_t end = source.find("*/", begin);
  if (end == std::string_view::npos)
    return fail(Errc::invalid_input, fmt::format("{}: the 'kerf' header comment is not closed by '*/'", first_line));
  if (end - begin > kMaxHeaderBytes)
    return fail(Errc::invalid_input,
                fmt::format("{}: the 'kerf' header is larger than {} bytes", first_line, kMaxHeaderBytes));

  std::vector<HeaderEntry> entries;
  int open = 0;
  int number = first_line - 1;
  for (const auto& raw : split(source.substr(begin, end - begin), '\n')) {
    ++number;
    std::string_view line = trim(raw);
    if (line.starts_with('*')) line = trim(line.substr(1));
    if (line.empty() || line.starts_with('#')) continue;
    const auto key = key_of(line);
    const bool known = key && std::find(known_keys.begin(), known_keys.end(), *key) != known_keys.end();
    if (open > 0 && !known) {
      entries.back().value += ' ';
      entries.back().value += line;
    } else if (open > 0) {
      break;  // the entry before this one was never closed: reported below, at its own line
    } else if (!key) {
      return fail(Errc::invalid_input,
                  fmt::format("{}: expected 'key: value' in the 'kerf' header, found '{}'; keys are {}", number,
                              line.substr(0, 60), join(known_keys, ", ")));
    } else if (!known) {
      return fail(Errc::invalid_input, fmt::format("{}: unknown key '{}' in the 'kerf' header{}; keys are {}", number,
                                                   *key, did_you_mean(*key, known_keys), join(known_keys, ", ")));
    } else {
      entries.push_back({std::string(*key), std::string(trim(line.substr(line.find(':') + 1))), number});
    }
    open = open_brackets(entries.back().value);
  }
  if (open > 0)
    return fail(Errc::invalid_input,
                fmt::format("{}: '{}' opens a bracket that is never closed", entries.back().line, entries.back().key));
  return entries;
}

std::vector<std::string> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    if (text[i] != separator || depth != 0) continue;
    parts.emplace_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.emplace_back(trim(text.substr(begin)));
  return parts;
}

}  // namespace kerf
