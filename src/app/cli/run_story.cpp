// `kerf explain` in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/line_diff.hpp"

namespace kerf::cli {

namespace {

std::string heading(const std::string& text, const Style& style) {
  return "\n" + paint(text, Colour::bold, style) + "\n";
}

std::string gain_text(double gain) {
  if (!(gain > 0) || !std::isfinite(gain)) return "-";
  const double percent = (gain - 1) * 100;
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 10 ? 1 : 0);
}

Cell count_cell(std::size_t value) { return {value == 0 ? "-" : std::to_string(value), Colour::none, true}; }

std::string tally_table(const std::vector<Tally>& tallies, const char* what, bool directions, const Style& style) {
  std::vector<std::vector<Cell>> rows{{{what}}};
  for (const char* name : {"tried", "measured", "kept", "best", "reached", "gain"})
    if (directions || std::string_view(name) != "reached") rows[0].push_back({name, Colour::none, true});
  for (const auto& one : tallies) {
    std::vector<Cell> row{{one_line(one.name)},
                          count_cell(one.tried),
                          count_cell(one.measured),
                          count_cell(one.kept),
                          count_cell(one.best)};
    if (directions) row.push_back(count_cell(one.reached));
    row.push_back({one.median_gain > 0 ? gain_text(one.median_gain) : "-", Colour::none, true});
    rows.push_back(std::move(row));
  }
  return table(rows, style);
}

/// What the proposer did, in one phrase.
std::string what_changed(const RunView& run, const Step& step) {
  if (!step.change.empty()) return one_line(step.change);
  if (step.parents.empty()) return "a new start";
  const auto lines = report::diff_lines(run.step(step.parents[0]).source, step.source);
  const auto total = report::count(lines);
  return fmt::format("{} added, {} removed", counted(total.added, "line"), total.removed);
}

std::string diff_text(const RunView& run, const Step& step, const Style& style) {
  std::string text;
  for (const auto& hunk : report::hunks(report::diff_lines(run.step(step.parents[0]).source, step.source))) {
    text += paint("      ...\n", Colour::dim, style);
    for (const auto& line : hunk) {
      const Colour colour = line.sign == '+' ? Colour::green : line.sign == '-' ? Colour::red : Colour::dim;
      text += "      " + paint(fmt::format("{} {}", line.sign, printable(line.text)), colour, style) + "\n";
    }
  }
  return text;
}

/// Of what the kernel was made from; 0 where that was not timed, and for a finalist, which is the same kernel.
double parent_speedup(const RunView& run, const Step& step) {
  return is_confirmation(step) || step.parents.empty() ? 0 : speedup_of(run, run.step(step.parents[0]));
}

/// The step that measured this one again as a finalist; 0: none.
std::int64_t measured_again(const RunView& run, const Step& step) {
  for (const Step& later : run.steps)
    if (is_confirmation(later) && !later.parents.empty() && later.parents[0] == step.number) return later.number;
  return 0;
}

/// Two or three lines about one member of a lineage.
std::string member_text(const RunView& run, const Step& step, bool diff, const Style& style) {
  std::string text = fmt::format("  {} {}  {}", paint(fmt::format("step {}", step.number), Colour::bold, style),
                                 one_line(step.proposer + " " + step.operation), what_changed(run, step));
  if (step.parents.size() > 1) {
    std::vector<std::string> partners;
    for (std::size_t i = 1; i < step.parents.size(); ++i) partners.push_back(std::to_string(step.parents[i]));
    text += fmt::format(" (with step {})", join(partners, ", "));
  }
  text = fitted(text + "\n", style);
  std::string line = "      ";
  if (measurement_of(step) != nullptr) {
    const std::string paired = paired_words(step);
    line += is_fallback(step) ? "the plain kernel" : format_speedup(estimated_speedup(run, step));
    if (const std::int64_t again = measured_again(run, step); run.refuted.contains(step.number))
      line = paint(fmt::format("refused when it was measured again in step {}", again), Colour::red, style);
    else if (again != 0 && !is_fallback(step))
      line += fmt::format(" as measured again in step {}", again);
    if (!paired.empty() && step.decision.find(paired) == std::string::npos)
      line += ", " + paired;
    else if (const double before = parent_speedup(run, step); paired.empty() && before > 0 && speedup_of(run, step) > 0)
      line += fmt::format(", {} against step {}", gain_text(speedup_of(run, step) / before), step.parents[0]);
  } else {
    line += paint(outcome_words(step.evaluation.outcome), Colour::red, style);
  }
  if (!step.decision.empty()) line += "; " + one_line(step.decision);
  text += style.columns == 0 ? line + "\n" : wrapped(line, style.columns);
  if (diff && !step.parents.empty()) text += diff_text(run, step, style);
  return text;
}

/// Of the plain kernel, which is not compared with itself.
Evaluation without_speedups(Evaluation evaluation) {
  if (auto* measurement = std::get_if<Measurement>(&evaluation.outcome)) {
    measurement->speedup = {};
    for (auto& shape : measurement->shapes) shape.speedups.clear();
  }
  return evaluation;
}

std::string cost_text(const char* what, const std::vector<TierTime>& parts) {
  double total = 0;
  std::vector<std::string> list;
  for (const TierTime& part : parts) {
    total += part.ms;
    if (part.ms >= 0.5) list.push_back(fmt::format("{} {}", printable(part.tier), format_us(part.ms * 1000)));
  }
  if (list.empty()) return {};
  return fmt::format("{} in {}: {}\n", what, format_us(total * 1000), join(list, ", "));
}

}  // namespace

std::string search_text(const RunView& run, const Style& style) {
  std::string text = heading("Turning points", style);
  std::vector<std::vector<Cell>> rows{{{"step", Colour::none, true},
                                       {"at", Colour::none, true},
                                       {"speedup", Colour::none, true},
                                       {"gain", Colour::none, true},
                                       {"by"},
                                       {"change"}}};
  for (const auto& point : turning_points(run)) {
    const Step& step = run.step(point.step);
    rows.push_back({{std::to_string(point.step), Colour::none, true},
                    {format_seconds(std::isfinite(step.seconds) ? step.seconds : 0), Colour::none, true},
                    {is_fallback(step) ? "plain" : format_speedup(point.speedup), Colour::none, true},
                    {rows.size() == 1 ? "first" : gain_text(point.gain), Colour::none, true},
                    {printable(fmt::format("{}, {}", stage_name(step.stage), step.operation))},
                    {what_changed(run, step)}});
  }
  text += rows.size() == 1 ? "nothing was measured yet\n" : table(rows, style);
  text += heading("What the proposers tried", style) + tally_table(tally_operations(run), "operation", false, style);
  if (const auto directions = tally_directions(run); !directions.empty())
    text += heading("Where they were asked to go", style) + tally_table(directions, "direction", true, style);
  text += remark(
      "\nkept: entered the archive. best: faster than everything before. reached: landed in the cell asked for. gain: "
      "median of child over parent, in turning points over the best before. Speedups are on one scale, as in 'kerf "
      "show'. 'kerf explain RUN STEP' tells one kernel's story.\n",
      style);
  return text;
}

std::string step_text(const RunView& run, std::int64_t number, bool diff, const Style& style) {
  const Step& step = run.step(number);
  std::string text =
      fmt::format("{}  {}  {}\n", paint(fmt::format("step {}", number), Colour::bold, style), one_line(step.name),
                  paint(step.evaluation.candidate_id.substr(0, 12), Colour::dim, style));
  text +=
      fmt::format("proposed by {} ({}) in stage {}{}\n", one_line(step.proposer), one_line(step.operation),
                  stage_name(step.stage), step.direction.empty() ? "" : ", asked to go " + one_line(step.direction));
  if (measurement_of(step) != nullptr) {
    const Evaluation shown = is_fallback(step) ? without_speedups(step.evaluation) : step.evaluation;
    text += "\n" + evaluation_table(std::span(&shown, 1), style);
    if (const std::string paired = paired_words(step); !paired.empty()) text += fitted(paired + "\n", style);
    if (const std::string words = estimate_words(run, step); !words.empty()) text += fitted(words + "\n", style);
    if (!step.cell.empty()) text += fmt::format("cell: {}\n", cell_text(step.cell));
    for (const auto& reason : reasons_of(step)) text += fitted(fmt::format("  {}\n", one_line(reason)), style);
  } else {
    text += "\n" + failure_report(step.evaluation, style);
  }
  if (!step.decision.empty()) text += fitted(fmt::format("decision: {}\n", one_line(step.decision)), style);
  if (run.refuted.contains(number))
    text += paint(fmt::format("refused when it was measured again in step {}\n", measured_again(run, step)),
                  Colour::red, style);
  text += fitted(cost_text("judged", step.evaluation.tiers), style) +
          fitted(cost_text("prepared", step.evaluation.preparation), style);
  text += heading("How it came about", style);
  for (const std::int64_t member : lineage_of(run, number)) text += member_text(run, run.step(member), diff, style);
  std::vector<std::string> children;
  for (const Step& other : run.steps)
    if (std::find(other.parents.begin(), other.parents.end(), number) != other.parents.end())
      children.push_back(std::to_string(other.number));
  if (!children.empty())
    text += fitted(fmt::format("\n{} {}: {}\n", children.size(), children.size() == 1 ? "child" : "children",
                               join(children, ", ")),
                   style);
  return text;
}

}  // namespace kerf::cli
