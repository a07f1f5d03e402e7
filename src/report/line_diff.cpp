#include "report/line_diff.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kerf::report {
namespace {

constexpr int kMaxEdits = 2000;  // the search keeps O(edits^2) numbers

std::vector<std::string> lines_of(std::string_view text) {
  auto lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Furthest-reaching points per number of edits; empty when there are more than kMaxEdits.
std::vector<std::vector<int>> search(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int limit = std::min(n + m, kMaxEdits);
  std::vector<std::vector<int>> trace;
  std::vector<int> reach(static_cast<std::size_t>(2 * limit + 3), 0);  // by diagonal, offset limit + 1
  const auto at = [&](int k) -> int& { return reach[static_cast<std::size_t>(k + limit + 1)]; };
  for (int d = 0; d <= limit; ++d) {
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)]) ++x;
      at(k) = x;
      if (x >= n && x - k >= m) {
        trace.emplace_back(reach.begin() + (limit + 1 - d), reach.begin() + (limit + 2 + d));
        return trace;
      }
    }
    trace.emplace_back(reach.begin() + (limit + 1 - d), reach.begin() + (limit + 2 + d));
  }
  return {};
}

std::vector<DiffLine> all_changed(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<DiffLine> lines;
  for (std::size_t i = 0; i < a.size(); ++i) lines.push_back({'-', a[i], static_cast<int>(i) + 1, 0});
  for (std::size_t i = 0; i < b.size(); ++i) lines.push_back({'+', b[i], 0, static_cast<int>(i) + 1});
  return lines;
}

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after) {
  const auto a = lines_of(before), b = lines_of(after);
  const auto trace = search(a, b);
  if (trace.empty()) return all_changed(a, b);
  std::vector<DiffLine> lines;
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int d = static_cast<int>(trace.size()) - 1; d >= 0; --d) {
    int from_x = 0, from_y = 0;
    if (d > 0) {
      const auto& reach = trace[static_cast<std::size_t>(d) - 1];  // diagonals -(d-1) .. d-1
      const auto at = [&](int k) { return reach[static_cast<std::size_t>(k + d - 1)]; };
      const int k = x - y;
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      from_x = at(down ? k + 1 : k - 1);
      from_y = from_x - (down ? k + 1 : k - 1);
    }
    while (x > from_x && y > from_y) {
      lines.push_back({' ', a[static_cast<std::size_t>(x) - 1], x, y});
      --x, --y;
    }
    if (d == 0) break;
    if (x == from_x)
      lines.push_back({'+', b[static_cast<std::size_t>(y) - 1], 0, y});
    else
      lines.push_back({'-', a[static_cast<std::size_t>(x) - 1], x, 0});
    x = from_x, y = from_y;
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::vector<std::vector<DiffLine>> hunks(const std::vector<DiffLine>& lines, int context) {
  std::vector<std::vector<DiffLine>> result;
  const int size = static_cast<int>(lines.size());
  int end = 0;  // of what was given out
  for (int i = 0; i < size; ++i) {
    if (lines[static_cast<std::size_t>(i)].sign == ' ') continue;
    const int from = std::max(end, i - context);
    if (result.empty() || from > end) result.emplace_back();
    const int to = std::min(size, i + context + 1);
    for (int k = from; k < to; ++k) result.back().push_back(lines[static_cast<std::size_t>(k)]);
    end = std::max(end, to);
  }
  return result;
}

DiffCount count(const std::vector<DiffLine>& lines) {
  DiffCount total;
  for (const auto& line : lines) {
    total.added += line.sign == '+' ? 1 : 0;
    total.removed += line.sign == '-' ? 1 : 0;
  }
  return total;
}

}  // namespace kerf::report
