#pragma once
// What people see on a terminal: times, tables, evidence. Pure functions from values to text.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "base/result.hpp"
#include "judge/observer.hpp"
#include "model/evaluation.hpp"

namespace kerf::cli {

struct Style {
  bool colour = false;
  bool unicode = false;
  std::size_t columns = 0;  ///< tables are cut to this width; 0: not at all, as in files and pipes
};

enum class Colour { none, green, red, yellow, blue, dim, bold };

/// `text` in a colour, or as it is when the style has none.
std::string paint(std::string_view text, Colour colour, const Style& style);

/// At most `columns` wide, cut with "..." at the end; UTF-8 characters stay whole. Tabs count and become one space.
std::string fit(std::string_view text, std::size_t columns);

/// `text` with its lines broken at spaces so that none is wider than `columns`, where that can be done; what follows
/// in a line of a list of options stays below its description.
std::string wrapped(std::string_view text, std::size_t columns);

/// Lines broken at spaces to fit the style's width, where it has one.
std::string fitted(std::string_view text, const Style& style);

/// A remark below a table: dim, its lines broken likewise.
std::string remark(std::string_view text, const Style& style);

/// What a command tells while it works, on lines of its own: "  .. preparing ...".
std::string note_line(std::string_view text, const Style& style);

/// "412 us", "3.20 ms", "1.25 s"; "?" for what is not a finite time.
std::string format_us(double us);

/// Where a kernel takes much longer on data of unusual magnitudes: "11.9 ms on data of unusual magnitudes, 9.0 times as
/// long"; "" where it does not.
std::string unusual_words(const Measurement& measurement);
/// "16.8 MB", "1.07 GB".
std::string format_bytes(double bytes);
/// "0.27 GFLOP".
std::string format_flops(double flops);
/// "3.91", "0.0123", "1.2e-08": at most `digits` significant digits.
std::string format_number(double value, int digits = 4);

/// "2026-11-16 14:05 UTC", of milliseconds since 1970.
std::string format_utc(std::int64_t ms);

struct Cell {
  std::string text;
  Colour colour = Colour::none;
  bool right = false;  ///< aligned to the right
  bool whole = false;  ///< of a heading: its column is not cut
  bool folds = false;  ///< of a heading: its column is broken over lines, not cut
};

/// The heading of a column that is broken over lines rather than cut.
inline Cell folding(std::string_view heading) { return {std::string(heading), Colour::none, false, false, true}; }

/// Columns wide enough for their cells, two spaces apart; rows may be short. The first row is the heading. Where the
/// style has a width, the widest columns are cut until all fits.
std::string table(const std::vector<std::vector<Cell>>& rows, const Style& style);

/// One line for a finished tier: "  ok  compile       412 ms  3 shapes".
std::string tier_line(const TierEvent& event, const Style& style);

/// "measured", "wrong result", "does not compile", ...
std::string outcome_words(const Outcome& outcome);

/// One row per kernel and timed shape: outcome, time, speedup, share of the speed of light. A failed kernel has one row
/// with its gate.
std::string evaluation_table(std::span<const Evaluation> evaluations, const Style& style);

/// Gate and evidence of a failed evaluation in plain words; "" for a measured one.
std::string failure_report(const Evaluation& evaluation, const Style& style);

/// "kerf: error: ..." with a closing newline.
std::string error_text(const Error& error, const Style& style);

}  // namespace kerf::cli
