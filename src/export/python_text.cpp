#include "export/python_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::exporting {
namespace {

/// One line of text as a literal between double quotes.
std::string escaped(std::string_view line) {
  std::string text = "\"";
  for (const char c : line) {
    if (c == '"' || c == '\\')
      text += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      text += c;
  }
  return text;
}

/// Python reads \r\n in a source file as \n, and refuses a zero.
bool is_kept(std::string_view text) {
  return text.find('\r') == std::string_view::npos && text.find('\0') == std::string_view::npos;
}

}  // namespace

std::string python_string(std::string_view text) {
  for (const std::string_view quotes : {"'''", "\"\"\""})
    if (is_kept(text) && text.find(quotes) == std::string_view::npos && !text.ends_with(quotes[0]) &&
        !text.ends_with('\\'))
      return fmt::format("r{0}{1}{0}", quotes, text);
  std::string literal = "(";
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i)
    literal += escaped(lines[i]) + (i + 1 < lines.size() ? "\\n\"\n " : "\"");
  return literal + ")";
}

std::string python_comment(std::string_view text) {
  std::string comment;
  for (const auto& line : split(trim(text), '\n')) comment += line.empty() ? "#\n" : fmt::format("# {}\n", line);
  return comment;
}

}  // namespace kerf::exporting
