// Writing chosen values back into a candidate's header.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "model/candidate.hpp"
#include "model/candidate_header.hpp"

namespace kerf {
namespace {

struct Span {
  std::size_t begin = 0, end = 0;
};

/// Where line `number` (from 1) starts.
std::size_t line_start(std::string_view source, int number) {
  std::size_t at = 0;
  for (int line = 1; line < number; ++line) at = source.find('\n', at) + 1;
  return at;
}

/// The integers between the braces that open behind `from`; lines that are comments in the header are passed over.
std::vector<Span> value_spans(std::string_view source, std::size_t from) {
  std::vector<Span> spans;
  std::size_t at = source.find('{', from);
  while (at < source.size() && source[at] != '}') {
    if (source[at] == '\n') {
      std::size_t word = at + 1;
      const auto skip_blanks = [&] {
        while (word < source.size() && source[word] != '\n' && std::isspace(static_cast<unsigned char>(source[word])))
          ++word;
      };
      skip_blanks();
      if (word < source.size() && source[word] == '*') {
        ++word;
        skip_blanks();
      }
      at = word < source.size() && source[word] == '#' ? source.find('\n', word) : word;
      continue;
    }
    const bool sign = source[at] == '-';
    std::size_t end = at + (sign ? 1 : 0);
    while (end < source.size() && std::isdigit(static_cast<unsigned char>(source[end]))) ++end;
    if (end > at + (sign ? 1 : 0)) {
      spans.push_back({at, end});
      at = end;
    } else {
      ++at;
    }
  }
  return spans;
}

Status check_values(const Candidate& candidate, const Bindings& values) {
  std::vector<std::string> names;
  for (const Tunable& tunable : candidate.tunables) names.push_back(tunable.name);
  for (const auto& [name, value] : values) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return fail(Errc::invalid_input,
                  fmt::format("the kernel has no tunable '{}'{}", name, did_you_mean(name, names)));
    const auto& known = candidate.tunables[static_cast<std::size_t>(found - names.begin())].values;
    if (std::find(known.begin(), known.end(), value) == known.end())
      return fail(Errc::invalid_input,
                  fmt::format("tunable '{}' has no value {}; it has {}", name, value, fmt::join(known, ", ")));
  }
  return {};
}

/// The source with the values of tunables in another order: `order_of` is given each tunable's name and values, and
/// answers with the same values or with nothing, which leaves them.
Result<std::string> reordered(
    const std::string& source,
    const std::function<std::vector<std::int64_t>(const std::string&, std::vector<std::int64_t>)>& order_of) {
  KERF_TRY(const auto entries, read_header(source, {"target", "tune", "require", "scratch", "launch"}));
  const std::size_t header = find_header(source);
  std::string result;
  std::size_t done = 0;
  for (const HeaderEntry& entry : entries) {
    if (entry.key != "tune") continue;
    const std::string name(trim(std::string_view(entry.value).substr(0, entry.value.find('='))));
    const std::size_t from = std::max(line_start(source, entry.line), header);
    const std::vector<Span> spans = value_spans(source, source.find("tune", from));
    std::map<std::int64_t, std::string> spelling;
    std::vector<std::int64_t> values;
    for (const Span& span : spans) {
      std::from_chars(source.data() + span.begin, source.data() + span.end, values.emplace_back());
      spelling[values.back()] = source.substr(span.begin, span.end - span.begin);
    }
    const std::vector<std::int64_t> order = order_of(name, values);
    if (order.empty()) continue;
    KERF_CHECK(order.size() == spans.size(), "the header's parser and this one read the same values");
    for (std::size_t i = 0; i < spans.size(); ++i) {
      result += source.substr(done, spans[i].begin - done) + spelling.at(order[i]);
      done = spans[i].end;
    }
  }
  return result + source.substr(done);
}

}  // namespace

Result<std::string> with_defaults(const std::string& source, const Bindings& values) {
  KERF_TRY(const Candidate before, parse_candidate("kernel", source));
  KERF_TRY_VOID(check_values(before, values));
  return reordered(source, [&](const std::string& name, std::vector<std::int64_t> order) {
    const auto chosen = values.find(name);
    if (chosen == values.end()) return std::vector<std::int64_t>{};
    const auto at = std::ranges::find(order, chosen->second);
    if (at != order.end()) std::rotate(order.begin(), at, at + 1);
    return order;
  });
}

std::string without_defaults(const std::string& source) {
  auto sorted = reordered(source, [](const std::string&, std::vector<std::int64_t> order) {
    std::ranges::sort(order);
    return order;
  });
  return sorted ? *std::move(sorted) : source;
}

}  // namespace kerf
