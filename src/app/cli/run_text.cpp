#include "app/cli/run_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "run/context_tally.hpp"
#include "run/list_runs.hpp"
#include "run/prompts.hpp"
#include "run/skill_tally.hpp"
#include "run/standing.hpp"

namespace kerf::cli {

namespace {

std::string heading(const char* text, const Style& style) { return "\n" + paint(text, Colour::bold, style) + "\n"; }

Cell number_cell(std::size_t value) { return {value == 0 ? "-" : std::to_string(value), Colour::none, true}; }

std::string share_text(std::size_t part, std::size_t all) {
  return fmt::format("{:.0f} %", all > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0);
}

double fact_number(const RunView& run, const std::string& key) {
  const std::string text = run.fact(key);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string levels_text(const std::vector<int>& cell) {
  std::vector<std::string> levels;
  for (const int level : cell) levels.push_back(std::to_string(level));
  return levels.empty() ? "-" : join(levels, " ");
}

std::string tunables_text(const Bindings& tunables) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : tunables) parts.push_back(fmt::format("{}={}", name, value));
  return join(parts, " ");
}

/// The plain kernel is the best: its times, and no speedup over itself.
std::string plain_best_text(const Measurement& measurement, const Style& style) {
  std::string text = paint("the plain kernel stays the best: nothing was shown to be faster\n", Colour::yellow, style);
  std::vector<std::vector<Cell>> rows{{{"shape"}, {"time", Colour::none, true}}};
  for (const auto& shape : measurement.shapes)
    rows.push_back({{one_line(shape.shape)}, {format_us(shape.time.median), Colour::none, true}});
  return text + table(rows, style);
}

/// Why `first`, the largest figure, is not the best; "" when it is.
std::string why_not_best(const RunView& run, const Step& first) {
  if (run.best == 0 || run.best == first.number) return "";
  const Step& best = run.step(run.best);
  if (is_fallback(best))
    return fmt::format("the best is the plain kernel (step {}): none of these was shown to be faster than it\n",
                       best.number);
  std::string text = fmt::format("the best is step {}, not the largest figure: ", best.number);
  if (is_confirmation(best) && !is_confirmation(first))
    return text + "it was measured again at the end, on data the search never saw\n";
  const std::string paired = paired_words(first);
  if (!paired.empty()) return text + fmt::format("step {} was {}\n", first.number, paired);
  return text + "nothing was shown to be faster beyond the noise\n";
}

}  // namespace

std::string format_speedup(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return fmt::format("{:.{}f}x", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string format_speedup(const Speedup& speedup) {
  if (!(speedup.ratio > 0)) return "-";
  return fmt::format("{} ({} to {})", format_speedup(speedup.ratio), format_speedup(speedup.low),
                     format_speedup(speedup.high));
}

std::string speedup_words(const Speedup& speedup) {
  const Standing standing = standing_of(speedup);
  return fmt::format("{} vs {}{}", format_speedup(speedup), one_line(speedup.vs),
                     standing == Standing::faster ? "" : ", " + standing_name(standing));
}

std::string format_seconds(double seconds) {
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string run_heading(const RunView& run, const Style& style) {
  std::string text =
      fmt::format("{} on {}", paint(one_line(run.fact("task")), Colour::bold, style), one_line(run.fact("target")));
  if (const auto device = run.fact("device"); !device.empty()) text += fmt::format(" ({})", one_line(device));
  text += "\n";
  const double seconds =
      run.steps.empty() ? 0 : std::max(fact_number(run, "elapsed_seconds"), run.steps.back().seconds);
  const std::string why = run.fact("finished");
  text += fitted(fmt::format("{} in {}, seed {}, {}\n", counted(static_cast<std::int64_t>(run.steps.size()), "step"),
                             format_seconds(seconds), run.fact("seed").empty() ? "?" : one_line(run.fact("seed")),
                             is_running(run.folder) ? "running"
                             : why.empty()          ? "ended: interrupted (kerf optimize --resume continues it)"
                                                    : "ended: " + one_line(why)),
                 style);
  return text + paint(one_line(run.folder.string()), Colour::dim, style) + "\n";
}

std::string best_text(const RunView& run, const Style& style) {
  if (run.best == 0) return heading("Best", style) + "nothing was measured yet\n";
  const Step& step = run.step(run.best);
  std::string text = heading("Best", style);
  text += fmt::format("step {}  {}  {}\n", step.number, one_line(step.name), one_line(tunables_text(step.tunables)));
  const Measurement* measurement = measurement_of(step);
  if (measurement == nullptr) return text;
  if (is_fallback(step)) return text + plain_best_text(*measurement, style);
  const bool faster = standing_of(measurement->speedup) == Standing::faster;
  text += fmt::format("{} over {}",
                      paint(format_speedup(measurement->speedup), faster ? Colour::green : Colour::yellow, style),
                      one_line(measurement->speedup.vs));
  text += faster
              ? "\n"
              : paint(fmt::format(": {}; 'kerf naive' prints the plain kernel\n", standing_text(measurement->speedup)),
                      Colour::yellow, style);
  text += seen_words(step.evaluation) + "\n";
  if (const std::string words = unusual_words(*measurement); !words.empty()) text += words + "\n";
  std::vector<std::vector<Cell>> rows{
      {{"shape"}, {"before", Colour::none, true}, {"after", Colour::none, true}, {"speedup"}, {"speed of light"}}};
  for (const auto& shape : measurement->shapes) {
    const auto before = before_us(shape, measurement->speedup.vs);
    const auto speedup = shape.speedups.find(measurement->speedup.vs);
    rows.push_back({{one_line(shape.shape)},
                    {before ? format_us(*before) : "-", Colour::none, true},
                    {format_us(shape.time.median), Colour::none, true},
                    {speedup == shape.speedups.end() ? "-" : format_speedup(speedup->second)},
                    {shape.speed_of_light ? fmt::format("{:.0f} % ({} bound)", shape.speed_of_light->fraction * 100,
                                                        shape.speed_of_light->bound)
                                          : "not calibrated"}});
  }
  return text + table(rows, style);
}

std::string funnel_text(const RunView& run, const Style& style) {
  std::vector<std::vector<Cell>> rows{{{"reached"}, {"kernels", Colour::none, true}, {"ended there"}}};
  for (const auto& stage : funnel_of(run))
    rows.push_back({{stage.name}, number_cell(stage.count), {one_line(stage.lost), Colour::dim}});
  return heading("Outcomes", style) + table(rows, style);
}

std::string models_text(const RunView& run, const Style& style) {
  const auto models = tally_models(run);
  if (models.empty()) return "";
  std::vector<std::vector<Cell>> rows{{{"model"}}};
  for (const char* name : {"answers", "kernels", "passed", "new best", "tokens", "cost", "time"})
    rows[0].push_back({name, Colour::none, true});
  for (const ModelTally& one : models)
    rows.push_back({{fit(printable(one.model), 40)},
                    number_cell(one.answers),
                    number_cell(one.kernels),
                    number_cell(one.passed),
                    number_cell(one.best),
                    {std::to_string(one.tokens), Colour::none, true},
                    {one.cost_usd > 0 ? fmt::format("{:.4f} USD", one.cost_usd) : "-", Colour::none, true},
                    {format_seconds(one.seconds), Colour::none, true}});
  return heading("Models", style) + table(rows, style);
}

std::string skills_text(const RunView& run, const Style& style) {
  const auto skills = tally_skills(run);
  if (skills.empty()) return "";
  std::vector<std::vector<Cell>> rows{{{"skill"}, {"state"}, {"in its trial"}}};
  for (const char* name : {"used", "passed", "new best", "against without"})
    rows[0].push_back({name, Colour::none, true});
  for (const SkillTally& one : skills) {
    const skill::Evidence* trial = last_trial(one.skill);
    rows.push_back({{fit(one.skill.name, 40)},
                    {std::string(skill::state_name(one.skill.state))},
                    {trial == nullptr ? "-"
                                      : fmt::format("{:.2f}x ({:.2f} to {:.2f})", std::exp(trial->effect),
                                                    std::exp(trial->low), std::exp(trial->high))},
                    number_cell(one.used),
                    number_cell(one.passed),
                    number_cell(one.best),
                    {one.compared > 0 ? fmt::format("{:.2f}x", std::exp(one.gain)) : "-", Colour::none, true}});
  }
  return heading("Skills", style) + table(rows, style);
}

std::string prompts_text(const RunView& run, const Style& style) {
  const auto prompts = tally_prompts(run.steps);
  if (prompts.size() < 2) return "";
  std::vector<std::vector<Cell>> rows{{{"prompt"}}};
  for (const char* name : {"from step", "last step", "answers", "passed", "mean gain", "best gain"})
    rows[0].push_back({name, Colour::none, true});
  const auto gain = [](double value) { return Cell{fmt::format("{:.2f}x", std::exp(value)), Colour::none, true}; };
  for (const PromptTally& one : prompts)
    rows.push_back({{one_line(one.variant)},
                    {std::to_string(one.first_step), Colour::none, true},
                    {std::to_string(one.last_step), Colour::none, true},
                    number_cell(one.answers),
                    number_cell(one.passed),
                    gain(one.mean_gain),
                    gain(one.best_gain)});
  return heading("Prompts", style) + table(rows, style);
}

std::string minds_text(const RunView& run, const Style& style) {
  const auto minds = tally_minds(run);
  if (minds.size() < 2) return "";
  std::vector<std::vector<Cell>> rows{{{"mind"}}};
  for (const char* name : {"kernels", "passed", "new best", "share", "tokens", "cost"})
    rows[0].push_back({name, Colour::none, true});
  std::size_t best = 0;
  for (const MindTally& one : minds) best += one.best;
  for (const MindTally& one : minds)
    rows.push_back({{one_line(one.mind)},
                    number_cell(one.kernels),
                    number_cell(one.passed),
                    number_cell(one.best),
                    {share_text(one.best, best), Colour::none, true},
                    {one.tokens > 0 ? std::to_string(one.tokens) : "-", Colour::none, true},
                    {one.cost_usd > 0 ? fmt::format("{:.4f} USD", one.cost_usd) : "-", Colour::none, true}});
  return heading("Minds", style) + table(rows, style);
}

std::string knowledge_text(const RunView& run, const Style& style) {
  std::string text;
  if (const auto arms = knowledge_arms(run); !arms.empty()) {
    std::vector<std::vector<Cell>> rows{{{"answers"}}};
    for (const char* name : {"number", "passed", "mean gain"}) rows[0].push_back({name, Colour::none, true});
    for (const KnowledgeArm& arm : arms)
      rows.push_back({{fmt::format("{} {}", arm.with ? "with" : "without", one_line(arm.kind))},
                      number_cell(arm.answers),
                      {share_text(arm.passed, arm.answers), Colour::none, true},
                      {fmt::format("{:.2f}x", std::exp(arm.mean_gain)), Colour::none, true}});
    text += heading("With and without what was known", style) + table(rows, style);
  }
  constexpr std::size_t kMostItems = 8;
  if (const auto items = tally_context(run); !items.empty()) {
    std::vector<std::vector<Cell>> rows{{{"used"}}};
    for (const char* name : {"uses", "passed", "value"}) rows[0].push_back({name, Colour::none, true});
    rows[0].push_back({"from"});
    for (std::size_t i = 0; i < std::min(items.size(), kMostItems); ++i)
      rows.push_back({{fit(one_line(items[i].id), 44)},
                      number_cell(items[i].uses),
                      {share_text(items[i].passed, items[i].uses), Colour::none, true},
                      {fmt::format("{:+.2f}", items[i].moves.back().second), Colour::none, true},
                      {one_line(items[i].about), Colour::dim}});
    text += heading("What was known and used", style) + table(rows, style);
    if (items.size() > kMostItems) text += fmt::format("and {} more\n", items.size() - kMostItems);
  }
  return text;
}

std::string archive_text(const RunView& run, const Style& style) {
  const auto& cells = run.archive.cells();
  if (cells.empty()) return "";
  std::vector<std::vector<Cell>> rows{{}};
  for (int d = 0; d < kDimensions; ++d) rows[0].push_back({std::string(dimension_name(d)), Colour::none, true});
  rows[0].insert(rows[0].end(),
                 {{"speedup", Colour::none, true}, {"step", Colour::none, true}, {"kernel"}, {"others"}});
  const auto figure = [&](const Elite& elite) {
    const Step& step = run.step(elite.step);
    return is_fallback(step) ? std::string("plain") : format_speedup(speedup_of(run, step));
  };
  for (const auto& [cell, elites] : cells) {
    std::vector<Cell> row;
    for (const int level : cell) row.push_back({std::to_string(level), Colour::none, true});
    std::vector<std::string> others;
    for (std::size_t i = 1; i < elites.size(); ++i)
      others.push_back(fmt::format("{} ({})", figure(elites[i]), elites[i].step));
    row.push_back({figure(elites[0]), Colour::none, true});
    row.push_back({std::to_string(elites[0].step), Colour::none, true});
    row.push_back({one_line(run.step(elites[0].step).name)});
    row.push_back({join(others, ", "), Colour::dim});
    rows.push_back(std::move(row));
  }
  return heading(fmt::format("Archive ({} of 64 cells)", cells.size()).c_str(), style) + table(rows, style);
}

std::string top_text(const RunView& run, int top, const Style& style) {
  std::vector<const Step*> order;
  std::set<std::int64_t> again;  // finalists stand where they were measured again
  for (const Step& step : run.steps)
    if (is_confirmation(step) && speedup_of(run, step) > 0) again.insert(step.parents.begin(), step.parents.end());
  for (const Step& step : run.steps)
    if (speedup_of(run, step) > 0 && !again.contains(step.number)) order.push_back(&step);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Step* a, const Step* b) { return speedup_of(run, *a) > speedup_of(run, *b); });
  if (order.empty() || top <= 0) return "";
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  std::vector<std::vector<Cell>> rows{{{"step", Colour::none, true},
                                       {"speedup", Colour::none, false, true},
                                       {"cell"},
                                       {"kernel"},
                                       {"tunables"},
                                       {"id"}}};
  for (const Step* step : order)
    rows.push_back({{std::to_string(step->number), Colour::none, true},
                    {format_speedup(estimated_speedup(run, *step))},
                    {levels_text(step->cell)},
                    {one_line(step->name)},
                    {one_line(tunables_text(step->tunables))},
                    {step->evaluation.candidate_id.substr(0, 12), Colour::dim}});
  return heading("Fastest kernels", style) + table(rows, style) +
         remark(
             "kernels that came near the best were timed in turn with it; that places them, and the best's own "
             "measurement is the scale\n",
             style) +
         remark(why_not_best(run, *order.front()), style);
}

}  // namespace kerf::cli
