#pragma once
// Differences between two texts, line by line.

#include <string>
#include <string_view>
#include <vector>

namespace kerf::report {

struct DiffLine {
  char sign = ' ';  ///< ' ' in both, '-' only in the old one, '+' only in the new one
  std::string text;
  int old_line = 0;  ///< from 1; 0 when it is not in that text
  int new_line = 0;
};

/// A shortest edit script (Myers). Texts so different that it would take long are one block removed and one added.
std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after);

/// Only the changes with `context` lines around them, as runs of neighbouring lines.
std::vector<std::vector<DiffLine>> hunks(const std::vector<DiffLine>& lines, int context = 3);

struct DiffCount {
  int added = 0, removed = 0;
};
DiffCount count(const std::vector<DiffLine>& lines);

}  // namespace kerf::report
