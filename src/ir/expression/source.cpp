#include "ir/expression/source.hpp"

#include <algorithm>

namespace kerf::ir {

tl::unexpected<Error> Source::error(std::size_t at, const std::string& message) const {
  at = std::min(at, text_.size());
  const std::string_view before = text_.substr(0, at);
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto line_number = std::count(before.begin(), before.end(), '\n') + 1;
  std::string line(text_.substr(begin, text_.find('\n', begin) - begin));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = c == '\t' ? ' ' : '?';
  const std::size_t column = at - begin;
  constexpr std::size_t kShown = 110;  // a longer line is cut to this much around the caret
  const std::size_t cut = line.size() > kShown && column > kShown / 2 ? column - kShown / 2 : 0;
  line = line.substr(cut, kShown);
  return fail(Errc::invalid_input, "line " + std::to_string(line_number) + ", column " + std::to_string(column + 1) +
                                       ": " + message + "\n  " + line + "\n  " + std::string(column - cut, ' ') + "^");
}

}  // namespace kerf::ir
