#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "bench/problem.hpp"

namespace kerf::bench {
namespace {

constexpr int kMostNumber = 1'000'000;

std::optional<int> whole(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > kMostNumber) return {};
  return number;
}

}  // namespace

Result<Selection> parse_selection(const std::string& option, const std::string& text) {
  Selection selection;
  if (trim(text).empty()) return selection;
  const auto bad = [&](std::string_view part, std::string_view why) {
    return fail(Errc::invalid_input, fmt::format("{} {}: '{}' {}; write numbers and ranges with commas between them, "
                                                 "for example 1,5-9",
                                                 option, text, part, why));
  };
  for (const std::string& piece : split(text, ',')) {
    const std::string_view part = trim(piece);
    if (part.empty()) return bad(piece, "is empty");
    const auto dash = part.find('-');
    const bool named = std::any_of(part.begin(), part.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    if (named) {
      selection.names.emplace_back(part);
      continue;
    }
    const auto first = whole(trim(part.substr(0, dash)));
    const auto last = dash == std::string_view::npos ? first : whole(trim(part.substr(dash + 1)));
    if (!first || !last) return bad(part, "is neither a number nor a range");
    if (*first > *last) return bad(part, fmt::format("begins behind its end (did you mean '{}-{}'?)", *last, *first));
    selection.ranges.push_back({*first, *last});
  }
  return selection;
}

}  // namespace kerf::bench
