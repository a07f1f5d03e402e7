#include "app/cli/search_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "run/run_view.hpp"
#include "search/search_state.hpp"

namespace kerf::cli {
namespace {

constexpr int kCells = 64;

/// One or two words: what was decided about the step.
std::string decision_word(const Step& step) {
  if (is_duplicate(step)) return "duplicate";
  if (std::holds_alternative<BuildFailed>(step.evaluation.outcome)) return "not compiled";
  if (measurement_of(step) == nullptr) return outcome_words(step.evaluation.outcome);
  if (is_confirmation(step)) return "measured again";
  if (step.kept) return "kept";
  return is_trial(step) ? "timed briefly" : "not kept";
}

/// The figure it is known by, or the gate that refused it.
std::string figure(const Step& step, const Speedup& estimate) {
  const Measurement* measurement = measurement_of(step);
  if (measurement == nullptr) return outcome_gate(step.evaluation.outcome);
  if (is_fallback(step)) return "the plain kernel";
  if (estimate.ratio > 0) return format_speedup(estimate);
  const ShapeMeasurement* shape = main_shape(*measurement);
  return shape != nullptr ? format_us(shape->time.median) : "";
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

/// Removes what lies between two words, with the first of them.
void remove_between(std::string& text, std::string_view from, std::string_view until) {
  const auto begin = text.find(from);
  if (begin == std::string::npos) return;
  const auto end = text.find(until, begin + from.size());
  if (end != std::string::npos) text.erase(begin, end - begin);
}

/// The decision's sentence in short, without what the line has said already: the decision's word, the speedup, the
/// gate. `kerf explain` has the whole sentence.
std::string reason(const Step& step) {
  std::string text = one_line(step.decision);
  for (const std::string_view word :
       {"kept: ", "not kept: ", "measured again, thoroughly and on fresh data", "a quick timing, not a verdict", "; "})
    if (text.starts_with(word)) text.erase(0, word.size());
  if (measurement_of(step) == nullptr) {
    const std::string gate = fmt::format("at gate '{}': ", outcome_gate(step.evaluation.outcome));
    if (const auto at = text.find(gate); at != std::string::npos) text.erase(0, at + gate.size());
    return text;
  }
  remove_between(text, " as fast (", " as step ");
  replace(text, " times as step ", "x step ");
  replace(text, ", timed in turn", "");
  remove_between(text, "the best of its cell, which has", " room for ");
  replace(text, " room for ", "one of up to ");
  if (text.ends_with(cell_text(step.cell))) {
    text.erase(text.size() - cell_text(step.cell).size());
    text += fmt::format("{}", fmt::join(step.cell, "/"));
  }
  replace(text, "the first in cell ", "new cell ");
  return text;
}

std::string light(const std::optional<SpeedOfLight>& floor) {
  return floor ? fmt::format("{:.0f} % of the speed of light", 100 * floor->fraction) : "";
}

constexpr std::size_t kRowLabel = 10;  // columns

std::string row(const std::string& label, const std::string& text, std::size_t columns, const Style& style) {
  const std::size_t room = columns > kRowLabel ? columns - kRowLabel : 0;
  return paint(fit(fmt::format("  {:<8}", label), columns), Colour::dim, style) + fit(text, room) + "\n";
}

std::string budget_text(const SearchProgress& progress) {
  std::string text = progress.evaluation_limit > 0 ? fmt::format("{} of {}", progress.evaluations,
                                                                 counted(progress.evaluation_limit, "evaluation"))
                                                   : counted(progress.evaluations, "evaluation");
  if (progress.asking > 0) text += fmt::format(", {} under way", counted(progress.asking, "question"));
  if (progress.rate > 0) text += fmt::format(", {:.1f} a minute", progress.rate);
  const double left = seconds_left(progress);
  if (left >= 1) text += ", " + format_seconds(left) + " left";
  if (left >= 0 && left < 1) text += ", ends with this kernel";
  return text;
}

std::string shape_lines(const Measurement& measurement, const Style& style) {
  std::string text;
  const Colour colour = standing_of(measurement.speedup) == Standing::faster ? Colour::green : Colour::yellow;
  for (const ShapeMeasurement& shape : measurement.shapes) {
    const auto before = before_us(shape, measurement.speedup.vs);
    text += fmt::format("{}  {}{}", paint(one_line(shape.shape), Colour::bold, style),
                        before ? format_us(*before) + " -> " : "", format_us(shape.time.median));
    if (const auto found = shape.speedups.find(measurement.speedup.vs); found != shape.speedups.end())
      text += paint(fmt::format("  {}", format_speedup(found->second)), colour, style) + " vs " +
              one_line(measurement.speedup.vs);
    if (shape.speed_of_light)
      text += fmt::format(", {} ({} bound)", light(shape.speed_of_light), shape.speed_of_light->bound);
    text += "\n";
  }
  if (const std::string words = unusual_words(measurement); !words.empty())
    text += paint(words + "\n", Colour::dim, style);
  return text;
}

std::string next_lines(const OptimizeResult& result, const std::string& kerf) {
  const std::string folder = result.folder.string();
  if (result.search.interrupted) return fmt::format("go on   {} optimize --resume {}\n", kerf, folder);
  if (!result.best) return fmt::format("next    {} explain {}\n", kerf, folder);
  if (result.standing != Standing::faster)
    return fmt::format("next    {0} explain {1}\n        {0} optimize --resume {1} --evals NUMBER\n", kerf, folder);
  return fmt::format("next    {0} explain {1} best\n        {0} report {1}\n        {0} export {1}\n", kerf, folder);
}

}  // namespace

std::string step_line(const StepFinished& finished, const Style& style, std::size_t columns) {
  const Step& step = finished.step;
  constexpr std::size_t kWord = 14, kFigure = 22, kName = 20;
  const std::string word = decision_word(step);
  const std::string head = fmt::format("{:5}  ", step.number), rest = reason(step);
  std::string text = fmt::format("{:<{}}  {:<{}}  {} {}{}", "", std::max(word.size(), kWord) - word.size(),
                                 fit(figure(step, finished.estimate), kFigure), kFigure, step.operation,
                                 fit(one_line(step.name), kName), rest.empty() ? "" : ": " + rest);
  text = fit(text, std::max(columns, head.size() + word.size()) - head.size() - word.size());
  const Colour colour = step.kept ? Colour::green : measurement_of(step) == nullptr ? Colour::yellow : Colour::dim;
  return head + paint(word, colour, style) + text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

double seconds_left(const SearchProgress& progress) {
  double left = -1;
  if (progress.evaluation_limit > 0 && progress.rate > 0)
    left = 60.0 * std::max(progress.evaluation_limit - progress.evaluations, 0) / progress.rate;
  if (progress.time_limit > 0) {
    const double time = std::max(progress.time_limit - progress.seconds, 0.0);
    left = left < 0 ? time : std::min(left, time);
  }
  return left;
}

std::string spending_text(const SearchProgress& progress) {
  const Spending& spending = progress.spending;
  if (!spending.anything()) return "";
  std::string text;
  if (progress.asking > 0) {
    text = fmt::format("asking {}", one_line(progress.asked));
    if (progress.asking > 1) text += fmt::format(" and {} more", progress.asking - 1);
    if (progress.asked_seconds >= 1) text += fmt::format(", for {}", format_seconds(progress.asked_seconds));
    text += "; ";
  }
  text += std::to_string(spending.tokens);
  if (spending.token_limit > 0) text += fmt::format(" of {}", spending.token_limit);
  text += " tokens";
  if (spending.cost_usd > 0 || spending.cost_limit_usd > 0) {
    text += fmt::format(", {:.4f}", spending.cost_usd);
    if (spending.cost_limit_usd > 0) text += fmt::format(" of {}", spending.cost_limit_usd);
    text += " USD";
  }
  return text;
}

std::string progress_block(const SearchProgress& progress, const std::string& title, const std::string& current,
                           std::size_t columns, const Style& style) {
  std::string stage(progress.stage ? stage_name(*progress.stage) : ""), doing = budget_text(progress);
  if (progress.stage == Stage::final)
    doing = progress.finalists > 0
                ? fmt::format("measuring finalist {} of {} again, on data the search never saw",
                              std::min(progress.confirmed + 1, progress.finalists), progress.finalists)
                : "measuring the finalists again, on data the search never saw";
  std::string best = "none yet";
  if (progress.best) {
    best = fmt::format("{} vs {}", format_speedup(*progress.best), one_line(progress.best->vs));
    // What does not fit is left out whole; the step's name is cut.
    const std::string share = light(progress.speed_of_light), step = fmt::format(", step {}", progress.best_step);
    if (!share.empty() && best.size() + 2 + share.size() + step.size() + kRowLabel <= columns) best += ", " + share;
    best += fmt::format("{} {}", step, one_line(progress.best_name));
  }
  std::string archive = fmt::format("{} of {} cells, {} refused, {} known code", progress.cells, kCells,
                                    progress.failures, progress.duplicates);
  if (progress.patience > 0)
    archive += fmt::format(", {} of {} without progress", progress.since_improvement, progress.patience);
  const std::string models = spending_text(progress);
  return paint(fit(title, columns), Colour::bold, style) + "\n" + row(stage, doing, columns, style) +
         row("best", best, columns, style) + row("archive", archive, columns, style) +
         (models.empty() ? "" : row("models", models, columns, style)) + row("now", current, columns, style);
}

std::string run_summary(const OptimizeResult& result, const Style& style, const std::string& kerf) {
  const SearchProgress& progress = result.search.progress;
  std::string text = "\n";
  const Measurement* measurement = result.best ? measurement_of(*result.best) : nullptr;
  const bool plain = measurement != nullptr && is_fallback(*result.best);
  if (progress.evaluations == 0 && progress.time_limit > 0 && !result.search.interrupted) {
    text += paint("no kernel was tried: the time went on preparation; give more --time\n", Colour::yellow, style);
  } else if (measurement == nullptr) {
    text += paint(fmt::format("no kernel passed all gates in {}", counted(progress.evaluations, "evaluation")),
                  Colour::yellow, style) +
            "\n";
  } else if (plain) {
    text += paint("nothing faster was found: the plain kernel stays the best\n", Colour::yellow, style);
    for (const ShapeMeasurement& shape : measurement->shapes)
      text += fmt::format("{}  {}\n", paint(one_line(shape.shape), Colour::bold, style), format_us(shape.time.median));
  } else {
    if (result.standing != Standing::faster)
      text += paint(fmt::format("nothing faster than {} was found: the best kernel is {}",
                                one_line(measurement->speedup.vs), standing_text(measurement->speedup)),
                    Colour::yellow, style) +
              "\n";
    text += shape_lines(*measurement, style);
  }
  text += remark(fmt::format("{} in {}: {} refused, {} with known code, {} of {} cells filled; {}\n",
                             counted(progress.evaluations, "evaluation"), format_seconds(progress.seconds),
                             progress.failures, progress.duplicates, progress.cells, kCells, result.search.stopped),
                 style);
  if (const std::string models = spending_text(progress); !models.empty())
    text += remark(fmt::format("models: {}\n", models), style);
  if (measurement != nullptr && !plain)
    text += remark(
        "speedups come from rounds in which both kernels ran; times before are the median after times the speedup\n",
        style);
  text += "\n";
  if (result.naive) text += fmt::format("use     {}  the plain kernel\n", result.naive->string());
  if (result.kernel && !(plain && result.naive))
    text += fmt::format("kernel  {}{}\n", result.kernel->string(),
                        plain                                 ? "  the plain kernel"
                        : result.standing == Standing::faster ? ""
                                                              : "  " + standing_text(measurement->speedup));
  if (measurement != nullptr && !measurement->shapes.empty() && !measurement->shapes.front().speed_of_light)
    text += remark("        how close to the machine's limit that is: 'kerf doctor --calibrate' once, then --resume\n",
                   style);
  return text + next_lines(result, kerf);
}

SearchView::SearchView(Console& console, Screen screen) : console_(console), screen_(std::move(screen)) {}

SearchView::~SearchView() {
  if (screen_.live) erase();
}

void SearchView::on_event(const RunEvent& event) {
  std::visit([this](const auto& one) { show(one); }, event);
}

void SearchView::show(const RunMark& mark) {
  const auto detail = [&](const char* name) {
    const auto found = mark.details.find(name);
    return found == mark.details.end() ? std::string() : one_line(found->second);
  };
  if (detail("task").empty()) return;  // not the beginning
  title_ = fmt::format("{} on {} ({}), {}", detail("task"), detail("target"), detail("device"), detail("folder"));
  if (!screen_.live) console_.err << title_ << std::endl;
}

void SearchView::erase() {
  if (lines_ > 0) console_.err << fmt::format("\x1b[{}A\r\x1b[J", lines_) << std::flush;
  lines_ = 0;
}

/// One column stays free: terminals differ in what they do when the last one is written.
std::size_t SearchView::columns() const {
  return static_cast<std::size_t>(std::max(screen_.columns ? screen_.columns() : 80, 20) - 1);
}

void SearchView::draw() {
  if (!screen_.live) return;
  erase();
  const std::string block = progress_block(progress_, title_, tier_.empty() ? current_ : current_ + "  (" + tier_ + ")",
                                           columns(), console_.err_style);
  console_.err << block << std::flush;
  lines_ = static_cast<int>(std::count(block.begin(), block.end(), '\n'));
}

void SearchView::show(const ProposalAsked& asked) {
  progress_.asked = fmt::format("{}: {}", asked.proposer, asked.operation);
  progress_.asking = std::max(progress_.asking, 1);
  draw();
}

void SearchView::show(const StillWaiting& waiting) {
  progress_ = waiting.progress;
  draw();
}

void SearchView::show(const CandidateStarted& started) {
  const Step& step = started.step;
  progress_ = started.progress;
  current_ = printable(
      fmt::format("step {} {}: {}", step.number, step.operation, step.change.empty() ? step.name : step.change));
  std::replace(current_.begin(), current_.end(), '\n', ' ');
  tier_.clear();
  draw();
}

void SearchView::show(const StepFinished& finished) {
  const Step& step = finished.step;
  const SearchProgress& progress = finished.progress;
  progress_ = progress;
  if (!screen_.live) {
    console_.err << step_line(finished, console_.err_style) << std::flush;
    return;
  }
  // Turning points stay on the screen above the block.
  if (progress.best_step != best_step_ && progress.best_step == step.number) {
    erase();
    console_.err << step_line(finished, console_.err_style, std::min(columns(), kStepLineColumns));
  }
  best_step_ = progress.best_step;
  draw();
}

void SearchView::show(const RunNote& note) {
  const std::string& text = note.text;
  if (!screen_.live) {
    console_.err << note_line(text, console_.err_style) << std::flush;
    return;
  }
  if (text.starts_with("preparing ")) {  // over as soon as the next thing happens
    tier_ = one_line(text);
  } else {
    erase();
    console_.err << paint(wrapped(".. " + one_line(text), columns()), Colour::dim, console_.err_style) << std::flush;
  }
  draw();
}

void SearchView::show(const TierEvent& event) {
  tier_ = event.tier;
  draw();
}

}  // namespace kerf::cli
