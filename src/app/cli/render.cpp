#include "app/cli/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>
#include <utility>

#include "base/one_line.hpp"
#include "base/text.hpp"

namespace kerf::cli {
namespace {

/// Columns that UTF-8 text takes, counting every code point as one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string interval(double low, double high, std::string (*format)(double)) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  return fmt::format(" [{} .. {}]", format(low), format(high));
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return "?";
  return fmt::format("{:.{}f}x", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string with_unit(double value, std::string_view unit) {
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

Cell speedup_cell(const Speedup* speedup) {
  if (speedup == nullptr || speedup->ratio == 0) return {"-"};
  const Colour colour = speedup->low > 1 ? Colour::green : speedup->high < 1 ? Colour::red : Colour::yellow;
  return {fmt::format("{}{} vs {}", format_ratio(speedup->ratio), interval(speedup->low, speedup->high, format_ratio),
                      one_line(speedup->vs)),
          colour};
}

/// The shape's speedup over the baseline that the whole measurement is held to.
const Speedup* speedup_of_shape(const ShapeMeasurement& shape, const std::string& vs) {
  if (const auto known = shape.speedups.find(vs); known != shape.speedups.end()) return &known->second;
  const Speedup* hardest = nullptr;
  for (const auto& [name, speedup] : shape.speedups)
    if (hardest == nullptr || speedup.ratio < hardest->ratio) hardest = &speedup;
  return hardest;
}

Cell light_cell(const std::optional<SpeedOfLight>& light) {
  if (!light || !std::isfinite(light->fraction)) return {"-", Colour::dim};
  return {fmt::format("{:.0f} % ({})", light->fraction * 100, light->bound)};
}

/// What a table of evaluations has room for and something to say about.
struct Details {
  bool light = false;   ///< shares of the speed of light
  bool narrow = false;  ///< the speedup's interval and not the time's; files without their folders
};

void add_measured(std::vector<std::vector<Cell>>& rows, const Evaluation& evaluation, const Measurement& measurement,
                  const Details& details) {
  const std::string whole = one_line(evaluation.candidate);
  Cell name{details.narrow ? whole.substr(whole.find_last_of('/') + 1) : whole, Colour::bold};
  Cell outcome{evaluation.from_cache ? "measured (cached)" : "measured", Colour::green};
  for (const auto& shape : measurement.shapes) {
    const std::string spread = details.narrow ? "" : interval(shape.time.low, shape.time.high, format_us);
    rows.push_back({name,
                    outcome,
                    {one_line(shape.shape)},
                    {format_us(shape.time.median) + spread},
                    speedup_cell(speedup_of_shape(shape, measurement.speedup.vs))});
    if (details.light) rows.back().push_back(light_cell(shape.speed_of_light));
    name = outcome = {};
  }
  if (measurement.shapes.size() > 1) rows.push_back({{}, {}, {"all"}, {}, speedup_cell(&measurement.speedup)});
  if (measurement.shapes.empty()) rows.push_back({name, {"verified, not timed", Colour::green}});
}

std::string index_text(const std::vector<std::int64_t>& index) { return fmt::format("[{}]", fmt::join(index, ", ")); }

/// Errors of less than this many tolerances may be an honest kernel's; lower precisions are farther off.
constexpr double kNearMiss = 20;

std::string evidence_text(const WrongEvidence& evidence) {
  std::string text =
      fmt::format("  output {}, shape {}, data {}: {} of {} elements are wrong\n", one_line(evidence.output),
                  one_line(evidence.shape), one_line(evidence.distribution), evidence.wrong, evidence.total);
  text += fmt::format("  worst at {}: expected {}, got {}, tolerance {}\n", index_text(evidence.worst_index),
                      format_number(evidence.expected, 9), format_number(evidence.actual, 9),
                      format_number(evidence.tolerance, 3));
  const double times = std::abs(evidence.actual - evidence.expected) / evidence.tolerance;
  if (times > 1 && times < kNearMiss)
    text += fmt::format(
        "  {:.2g} times the tolerance is a matter of rounding: does one accumulator add up many terms? several lose "
        "less\n",
        times);
  if (std::isnan(evidence.actual) && std::isfinite(evidence.expected))
    text += "  nan is also what an element holds that the kernel never wrote\n";
  if (!evidence.box_low.empty())
    text += fmt::format("  wrong elements lie between {} and {}\n", index_text(evidence.box_low),
                        index_text(evidence.box_high));
  return text;
}

/// The first lines of a long text, indented.
std::string excerpt(std::string_view text, std::size_t max_lines) {
  std::string result;
  const auto lines = split(trim(text), '\n');
  for (std::size_t i = 0; i < std::min(lines.size(), max_lines); ++i) {
    const std::string line = printable(lines[i]);
    result += "  " + (line.size() > 400 ? line.substr(0, 400) + " ..." : line) + "\n";
  }
  if (lines.size() > max_lines)
    result += fmt::format("  ... {} more lines (kerf eval --json has all)\n", lines.size() - max_lines);
  return result;
}

}  // namespace

namespace {

/// Takes from the widest columns until the rows are `columns` wide; none becomes narrower than a short word.
void cut_to_fit(std::vector<std::vector<Cell>>& rows, std::vector<std::size_t>& widths, std::size_t columns) {
  constexpr std::size_t kNarrowest = 10;
  if (columns == 0 || widths.empty()) return;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)); };
  while (total() > columns) {
    std::size_t widest = 0, at = 0;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > widest && (i >= rows[0].size() || !rows[0][i].whole)) widest = widths[at = i];
    if (widest <= kNarrowest) break;
    --widths[at];
  }
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      if (i >= rows[0].size() || !rows[0][i].folds) row[i].text = fit(row[i].text, widths[i]);
}

std::vector<std::string> folded(const Cell& cell, std::size_t width) {
  if (width_of(cell.text) <= width) return {cell.text};
  std::vector<std::string> lines = split(wrapped(cell.text, width), '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines) line = fit(line, width);  // one long word
  return lines;
}

/// A row of a table, with as many lines as its tallest cell.
std::string row_text(const std::vector<Cell>& row, const std::vector<Cell>& headings,
                     const std::vector<std::size_t>& widths, const Style& style) {
  const bool heading = &row == &headings;
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool folds = style.columns > 0 && i < headings.size() && headings[i].folds && widths[i] > 0;
    cells.push_back(folds ? folded(row[i], widths[i]) : std::vector{row[i].text});
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t at = 0; at < height; ++at) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string shown = at < cells[i].size() ? cells[i][at] : "";
      const std::size_t width = width_of(shown);
      const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
      const Colour colour = heading && row[i].colour == Colour::none ? Colour::dim : row[i].colour;
      const std::string painted = paint(shown, colour, style);
      line += (i > 0 ? "  " : "") + (row[i].right ? padding + painted : painted + padding);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string paint(std::string_view text, Colour colour, const Style& style) {
  static constexpr const char* kCodes[] = {"", "32", "31", "33", "34", "2", "1"};
  if (!style.colour || colour == Colour::none || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<int>(colour)], text);
}

std::string fit(std::string_view text, std::size_t columns) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\t', ' ');
  if (width_of(line) <= columns) return line;
  const std::string_view dots = std::string_view("...").substr(0, columns);
  std::size_t width = 0, end = 0;
  for (; end < line.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(line[end]) & 0xC0) != 0x80;
    if (begins && width++ == columns - dots.size()) break;
  }
  return line.substr(0, end) + std::string(dots);
}

namespace {

/// Where the lines that go on with this one begin: below the description of an option, else as far in as the line.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  constexpr std::size_t kLeastRoom = 16, kFurther = 4;
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (indent == 0) return 0;
  const std::size_t gap = line.find("  ", indent);
  const std::size_t description =
      gap == std::string_view::npos ? indent : std::min(line.find_first_not_of(' ', gap), line.size());
  return description + kLeastRoom <= columns ? description : indent + kFurther;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string result, carried;  // what is carried over is the beginning of the paragraph's next line
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line = std::exchange(carried, "") + std::string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t indent = hanging_indent(line, columns);
    const bool was_cut = line.size() > columns;
    while (line.size() > columns) {
      const std::size_t space = line.rfind(' ', columns);
      if (space == std::string::npos || space <= indent) break;  // one long word
      result += line.substr(0, line.find_last_not_of(' ', space) + 1) + "\n";
      line = std::string(indent, ' ') + line.substr(space + 1);
    }
    if (was_cut && indent == 0 && !text.empty() && text.front() != '\n' && text.front() != ' ')
      carried = line + " ";
    else
      result += line + "\n";
  }
  return result;
}

std::string fitted(std::string_view text, const Style& style) {
  return style.columns == 0 ? std::string(text) : wrapped(text, style.columns);
}

std::string remark(std::string_view text, const Style& style) { return paint(fitted(text, style), Colour::dim, style); }

std::string format_us(double us) {
  if (!std::isfinite(us) || us < 0) return "?";
  if (us < 1e3) return with_unit(us, "us");
  return us < 1e6 ? with_unit(us / 1e3, "ms") : with_unit(us / 1e6, "s");
}

std::string format_utc(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  char text[32];
  ::gmtime_r(&seconds, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes) || bytes < 0) return "?";
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return with_unit(bytes / 1e3, "kB");
  return bytes < 1e9 ? with_unit(bytes / 1e6, "MB") : with_unit(bytes / 1e9, "GB");
}

std::string format_flops(double flops) {
  if (!std::isfinite(flops) || flops < 0) return "?";
  if (flops < 1e3) return fmt::format("{:.0f} FLOP", flops);
  if (flops < 1e6) return with_unit(flops / 1e3, "kFLOP");
  if (flops < 1e9) return with_unit(flops / 1e6, "MFLOP");
  return flops < 1e12 ? with_unit(flops / 1e9, "GFLOP") : with_unit(flops / 1e12, "TFLOP");
}

std::string format_number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string table(const std::vector<std::vector<Cell>>& given, const Style& style) {
  std::vector<std::size_t> widths;
  auto rows = given;
  for (auto& row : rows)
    for (auto& cell : row) cell.text = one_line(cell.text);
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
    if (!row.empty() && row.size() == widths.size()) widths.back() = std::max(widths.back(), width_of(row.back().text));
  }
  cut_to_fit(rows, widths, style.columns);
  std::string text;
  for (const auto& row : rows) text += row_text(row, rows.front(), widths, style);
  return text;
}

std::string tier_line(const TierEvent& event, const Style& style) {
  const std::string mark = style.unicode ? (event.ok ? "\u2713 " : "\u2717 ") : (event.ok ? "ok  " : "NO  ");
  std::string detail = one_line(event.detail);
  if (!event.ok) std::replace(detail.begin(), detail.end(), '_', ' ');  // outcome names are for machines
  const std::string line =
      fmt::format("  {}{:<14}{:>9}  {}", paint(mark, event.ok ? Colour::green : Colour::red, style), event.tier,
                  format_us(event.ms * 1000), paint(detail, event.ok ? Colour::dim : Colour::red, style));
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string unusual_words(const Measurement& measurement) {
  constexpr double kMuchLonger = 1.25;
  std::string text;
  for (const ShapeMeasurement& shape : measurement.shapes) {
    // A disturbed run of either kind widens its interval: only times that lie apart are worth a word.
    if (!shape.unusual || !(shape.unusual->low > kMuchLonger * shape.time.high)) continue;
    const double times = shape.unusual->median / shape.time.median;
    text += fmt::format("{}{}{} on data of unusual magnitudes, {:.{}f} times as long", text.empty() ? "" : "; ",
                        measurement.shapes.size() > 1 ? one_line(shape.shape) + ": " : "",
                        format_us(shape.unusual->median), times, times < 10 ? 1 : 0);
  }
  return text;
}

std::string outcome_words(const Outcome& outcome) {
  static constexpr const char* kWords[] = {"measured", "does not compile", "wrong result",
                                           "crashed",  "timed out",        "rejected"};
  static_assert(std::variant_size_v<Outcome> == std::size(kWords));
  return kWords[outcome.index()];
}

namespace {

bool has_light(std::span<const Evaluation> evaluations) {
  return std::ranges::any_of(evaluations, [](const Evaluation& evaluation) {
    const auto* measurement = std::get_if<Measurement>(&evaluation.outcome);
    return measurement != nullptr && std::ranges::any_of(measurement->shapes, [](const ShapeMeasurement& shape) {
             return shape.speed_of_light.has_value();
           });
  });
}

}  // namespace

std::string evaluation_table(std::span<const Evaluation> evaluations, const Style& style) {
  std::vector<std::vector<Cell>> rows;
  const bool measured = std::any_of(evaluations.begin(), evaluations.end(), [](const Evaluation& evaluation) {
    const auto* measurement = std::get_if<Measurement>(&evaluation.outcome);
    return measurement != nullptr && !measurement->shapes.empty();
  });
  constexpr std::size_t kRoomy = 110;  // columns
  const Details details{has_light(evaluations), style.columns > 0 && style.columns < kRoomy};
  rows.push_back({{"kernel"}, {"outcome"}});
  if (measured) rows[0].insert(rows[0].end(), {{"shape"}, {"time"}, folding("speedup")});
  if (details.light) rows[0].push_back({details.narrow ? "speed of light" : "of speed of light", {}, false, true});
  for (const auto& evaluation : evaluations) {
    if (const auto* measurement = std::get_if<Measurement>(&evaluation.outcome)) {
      add_measured(rows, evaluation, *measurement, details);
    } else {
      const bool built = !std::holds_alternative<BuildFailed>(evaluation.outcome);
      const std::string gate = built ? printable(outcome_gate(evaluation.outcome)) : "";
      rows.push_back(
          {{one_line(evaluation.candidate), Colour::bold},
           {fmt::format("{}{}{}", outcome_words(evaluation.outcome), gate.empty() ? "" : ": ", gate), Colour::red}});
    }
  }
  std::string text = table(rows, style);
  for (const auto& evaluation : evaluations)
    if (const auto* measurement = std::get_if<Measurement>(&evaluation.outcome))
      if (const std::string words = unusual_words(*measurement); !words.empty())
        text += paint(fmt::format("{}: {}\n", one_line(evaluation.candidate), words), Colour::dim, style);
  return text;
}

std::string failure_report(const Evaluation& evaluation, const Style& style) {
  if (std::holds_alternative<Measurement>(evaluation.outcome)) return "";
  constexpr std::size_t kMaxLines = 20;
  std::string text = fmt::format("{}: {}", paint(one_line(evaluation.candidate), Colour::bold, style),
                                 paint(outcome_words(evaluation.outcome), Colour::red, style));
  if (const auto* built = std::get_if<BuildFailed>(&evaluation.outcome)) {
    if (!built->shape.empty()) text += fmt::format(" for shape {}", one_line(built->shape));
  } else if (const std::string gate = outcome_gate(evaluation.outcome); !gate.empty()) {
    text += fmt::format(" at gate '{}'", one_line(gate));
  }
  text += "\n";
  const auto* wrong = std::get_if<WrongResult>(&evaluation.outcome);
  if (wrong != nullptr && wrong->evidence) return text + evidence_text(*wrong->evidence);  // its message says the same
  return text + excerpt(outcome_message(evaluation.outcome), kMaxLines);
}

std::string note_line(std::string_view text, const Style& style) {
  std::string line = "  .. " + printable(text);
  line = style.columns == 0 ? line + "\n" : wrapped(line, style.columns);
  return paint(line, Colour::dim, style);
}

std::string error_text(const Error& error, const Style& style) {
  constexpr std::string_view kPrefix = "kerf: error:", kIndent = "  ";
  // Further lines are set in, so that nothing in a message can pass for another message of kerf's.
  std::string text;
  for (const std::string& line : split(printable(error.message).append("\n"), '\n')) {
    std::string whole(kIndent);
    if (text.empty()) whole += fmt::format("{} ", kPrefix);
    whole += line;
    text += style.columns == 0 ? whole + "\n" : wrapped(whole, style.columns);
  }
  text = text.substr(kIndent.size(), text.find_last_not_of(" \n") + 1 - kIndent.size()) + "\n";
  text = paint(kPrefix, Colour::red, style) + text.substr(kPrefix.size());
  if (error.code == Errc::unavailable) text += "kerf: try: 'kerf doctor' lists what is missing and how to get it\n";
  return text;
}

}  // namespace kerf::cli
