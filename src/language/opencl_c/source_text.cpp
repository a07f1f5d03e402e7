#include "language/opencl_c/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/c_lexer.hpp"
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
      text +=
          fmt::format("#undef {0}\nenum {{ kerf_constant_{0} = {1} }};\n#define {0} kerf_constant_{0}\n", name, value);
    } else {
      text += fmt::format("enum {{ {} = {} }};\n", name, value);
    }
  }
  text += fmt::format("#line 1 \"{}\"\n", kSourceName);
  return text.append(source);
}

std::vector<std::string> forbidden_words(std::string_view source) {
  std::set<std::string> found;
  // Compilers of OpenCL C read trigraphs.
  for (const auto& line : logical_lines(lex_c(source, {.trigraphs = true}))) {
    for (const CToken& token : line) {
      if (token.is("asm") || token.is("__asm") || token.is("__asm__")) found.insert("inline assembly");
      if (token.is("printf")) found.insert("printf");
    }
    if (!starts_directive(line.front()) || line.size() < 2) continue;
    const std::string& directive = line[1].text;
    if (directive.starts_with("include") || directive == "import" || directive == "embed") found.insert("#include");
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
