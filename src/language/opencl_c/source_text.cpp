#include "language/opencl_c/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::opencl {
namespace {

constexpr std::size_t kLongestLog = 16 << 10;

// Built-in functions of OpenCL C whose names are also natural names of extents and tunables.
const std::set<std::string, std::less<>>& builtin_names() {
  static const std::set<std::string, std::less<>> names{"abs",       "all",      "any",
                                                        "ceil",      "clamp",    "clz",
                                                        "cross",     "degrees",  "distance",
                                                        "dot",       "exp",      "fabs",
                                                        "floor",     "fma",      "fmax",
                                                        "fmin",      "fract",    "length",
                                                        "log",       "mad",      "max",
                                                        "min",       "mix",      "nan",
                                                        "normalize", "popcount", "pow",
                                                        "prefetch",  "radians",  "rotate",
                                                        "round",     "select",   "shuffle",
                                                        "sign",      "sqrt",     "step",
                                                        "trunc",     "upsample", "work_group_size"};
  return names;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string_view> words(std::string_view code) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < code.size();) {
    if (!is_word(code[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < code.size() && is_word(code[end])) ++end;
    found.push_back(code.substr(i, end - i));
    i = end;
  }
  return found;
}

}  // namespace

std::string with_constants(std::string_view source, const Bindings& constants) {
  std::string text;
  for (const auto& [name, value] : constants) {
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    if (value == std::numeric_limits<std::int64_t>::min()) {
      text += fmt::format("#define {} (-{}L - 1)\n", name, std::numeric_limits<std::int64_t>::max());
    } else if (!fits) {
      text += fmt::format("#define {} ({}L)\n", name, value);
    } else if (builtin_names().count(name) != 0) {
      text += fmt::format("#define {} ({})\n", name, value);
    } else {
      text += fmt::format("enum {{ {} = {} }};\n", name, value);
    }
  }
  text += fmt::format("#line 1 \"{}\"\n", kSourceName);
  return text.append(source);
}

std::string code_only(std::string_view source) {
  std::string spliced;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\' && i + 1 < source.size() && source[i + 1] == '\n') {
      ++i;
    } else if (source[i] == '\\' && i + 2 < source.size() && source[i + 1] == '\r' && source[i + 2] == '\n') {
      i += 2;
    } else {
      spliced += source[i];
    }
  }
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, spliced.size()); ++i) {
      if (spliced[i] != '\n') spliced[i] = ' ';
    }
    return to;
  };
  for (std::size_t i = 0; i < spliced.size();) {
    if (spliced.compare(i, 2, "//") == 0) {
      i = blank(i, std::min(spliced.find('\n', i), spliced.size()));
    } else if (spliced.compare(i, 2, "/*") == 0) {
      const auto end = spliced.find("*/", i + 2);
      i = blank(i, end == std::string::npos ? spliced.size() : end + 2);
    } else if (spliced[i] == '"' || spliced[i] == '\'') {
      std::size_t end = i + 1;
      while (end < spliced.size() && spliced[end] != spliced[i] && spliced[end] != '\n')
        end += spliced[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return spliced;
}

std::vector<std::string> forbidden_words(std::string_view source) {
  const std::string code = code_only(source);
  std::set<std::string> found;
  for (const auto word : words(code)) {
    if (word == "asm" || word == "__asm" || word == "__asm__") found.insert("inline assembly");
    if (word == "printf") found.insert("printf");
  }
  for (const auto& line : split(code, '\n')) {
    auto rest = trim(line);
    if (rest.starts_with('#')) {
      rest.remove_prefix(1);
    } else if (rest.starts_with("%:")) {
      rest.remove_prefix(2);
    } else {
      continue;
    }
    if (trim(rest).starts_with("include")) found.insert("#include");
  }
  return {found.begin(), found.end()};
}

std::string readable_log(std::string_view log, std::string_view source, std::size_t lines_before) {
  // PoCL writes "error: FILE:LINE:COLUMN: words", clang "FILE:LINE:COLUMN: error: words".
  static const std::regex position(R"(^(?:(fatal error|error|warning|note): )?([^:\s]+):(\d+):(\d+): (.*)$)");
  static const std::regex temporary(R"(\S*/(tempfile_\w+\.cl|\S*\.cl)\b)");
  static const std::regex noise(R"(^(Device .* failed to build the program|\d+ (error|warning)s? .*generated.*)$)");
  const auto source_lines = split(source, '\n');
  const auto log_lines = split(log, '\n');
  std::string text;
  for (std::size_t i = 0; i < log_lines.size() && text.size() < kLongestLog; ++i) {
    const std::string line(log_lines[i].substr(0, 2000));
    if (trim(line).empty() || std::regex_match(line, noise)) continue;
    std::smatch match;
    if (!std::regex_match(line, match, position)) {
      text += std::regex_replace(line, temporary, std::string(kSourceName)) + "\n";
      continue;
    }
    const std::string kind = match[1].matched ? match[1].str() + ": " : "";
    auto row = static_cast<std::size_t>(std::strtoull(match[3].str().c_str(), nullptr, 10));
    const auto column = static_cast<std::size_t>(std::strtoull(match[4].str().c_str(), nullptr, 10));
    if (match[2].str() != kSourceName && row > lines_before) row -= lines_before;
    text += fmt::format("{}:{}:{}: {}{}\n", kSourceName, row, column, kind, match[5].str());
    const bool shown = i + 1 < log_lines.size() && !log_lines[i + 1].empty() && std::isspace(log_lines[i + 1][0]) != 0;
    if (shown || row == 0 || row > source_lines.size() || column == 0 || column > source_lines[row - 1].size() + 1)
      continue;
    if (column > 200) continue;
    std::string caret;
    for (std::size_t c = 0; c + 1 < column; ++c) caret += source_lines[row - 1][c] == '\t' ? '\t' : ' ';
    text += fmt::format("  {}\n  {}^\n", source_lines[row - 1].substr(0, 240), caret);
  }
  if (text.size() > kLongestLog) text.resize(kLongestLog);
  return std::string(trim(text));
}

}  // namespace kerf::opencl
