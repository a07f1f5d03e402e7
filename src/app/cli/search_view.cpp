#include "app/cli/search_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/run_text.hpp"
#include "report/run_view.hpp"
#include "search/search_state.hpp"

namespace kerf::cli {
namespace {

constexpr int kCells = 64;
constexpr std::size_t kWidth = 110;  // lines longer than the terminal would break the redrawing

std::string cut(std::string text, std::size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return text;
}

std::string what_became(const Step& step) {
  if (const auto* measurement = std::get_if<Measurement>(&step.evaluation.outcome)) {
    if (const Speedup speedup = report::shown_speedup(step); speedup.ratio > 0) return format_speedup(speedup);
    const ShapeMeasurement* shape = main_shape(*measurement);
    return shape != nullptr ? format_us(shape->time.median) : "passed";
  }
  if (is_duplicate(step)) return "duplicate";
  return outcome_words(step.evaluation.outcome);
}

std::string light(const std::optional<SpeedOfLight>& floor) {
  return floor ? fmt::format("{:.0f} % of the speed of light", 100 * floor->fraction) : "";
}

std::string row(const char* label, const std::string& text, const Style& style) {
  return paint(fmt::format("  {:<8}", label), Colour::dim, style) + cut(text, kWidth) + "\n";
}

}  // namespace

std::string step_line(const Step& step, const Style& style) {
  std::string text = fmt::format("{:5}  {:<10} {:<24} {}", step.number, step.operation, cut(printable(step.name), 24),
                                 what_became(step));
  text = fmt::format("{:<68} ", text);
  return text + paint(printable(step.decision), step.kept ? Colour::green : Colour::dim, style) + "\n";
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

std::string progress_block(const SearchProgress& progress, const std::string& title, const std::string& current,
                           const Style& style) {
  std::string count = fmt::format("{}", progress.evaluations);
  if (progress.evaluation_limit > 0) count += fmt::format(" of {}", progress.evaluation_limit);
  count += " evaluations";
  if (progress.rate > 0) count += fmt::format(", {:.1f} a minute", progress.rate);
  if (const double left = seconds_left(progress); left >= 0) count += ", " + format_seconds(left) + " left";
  std::string best = "none yet";
  if (progress.best) {
    best = fmt::format("{} vs {}", format_speedup(*progress.best), printable(progress.best->vs));
    if (const auto text = light(progress.speed_of_light); !text.empty()) best += ", " + text;
    best += fmt::format(", step {} {}", progress.best_step, printable(progress.best_name));
  }
  std::string archive = fmt::format("{} of {} cells, {} refused, {} known code", progress.cells, kCells,
                                    progress.failures, progress.duplicates);
  if (progress.patience > 0)
    archive += fmt::format(", {} of {} without progress", progress.since_improvement, progress.patience);
  return paint(title, Colour::bold, style) + "\n" + row(progress.stage.c_str(), count, style) +
         row("best", best, style) + row("archive", archive, style) + row("now", current, style);
}

std::string search_summary(const Evaluation& best, const SearchProgress& progress, const std::string& stopped,
                           const Style& style) {
  std::string text;
  const auto& measurement = std::get<Measurement>(best.outcome);
  for (const ShapeMeasurement& shape : measurement.shapes) {
    const auto baseline = shape.baselines.find(measurement.speedup.vs);
    const std::string before = baseline == shape.baselines.end() ? "?" : format_us(baseline->second.median);
    text += fmt::format("{}  {} -> {}", paint(printable(shape.shape), Colour::bold, style), before,
                        format_us(shape.time.median));
    if (const auto found = shape.speedups.find(measurement.speedup.vs); found != shape.speedups.end())
      text += paint(fmt::format("  {}", format_speedup(found->second)), Colour::green, style) + " vs " +
              printable(measurement.speedup.vs);
    if (shape.speed_of_light)
      text += fmt::format(", {} ({} bound)", light(shape.speed_of_light), shape.speed_of_light->bound);
    text += "\n";
  }
  text += paint(fmt::format("{} evaluations in {}: {} refused, {} of known code, {} of {} cells filled; {}\n",
                            progress.evaluations, format_seconds(progress.seconds), progress.failures,
                            progress.duplicates, progress.cells, kCells, stopped),
                Colour::dim, style);
  return text;
}

SearchView::SearchView(Console& console, std::string title, bool live)
    : console_(console), title_(std::move(title)), live_(live) {
  if (!live_) console_.err << title_ << std::endl;
}

SearchView::~SearchView() {
  if (live_) erase();
}

void SearchView::erase() {
  if (lines_ > 0) console_.err << fmt::format("\x1b[{}A\x1b[J", lines_) << std::flush;
  lines_ = 0;
}

void SearchView::draw() {
  if (!live_) return;
  erase();
  const std::string block =
      progress_block(progress_, title_, tier_.empty() ? current_ : current_ + "  (" + tier_ + ")", console_.err_style);
  console_.err << block << std::flush;
  lines_ = static_cast<int>(std::count(block.begin(), block.end(), '\n'));
}

void SearchView::on_event(const RunEvent& event) {
  std::visit([this](const auto& one) { show(one); }, event);
}

void SearchView::show(const CandidateStarted& started) {
  const Step& step = started.step;
  progress_ = started.progress;
  current_ = printable(
      fmt::format("step {} {}: {}", step.number, step.operation, step.change.empty() ? step.name : step.change));
  tier_.clear();
  draw();
}

void SearchView::show(const StepFinished& finished) {
  const auto& [step, progress] = finished;
  progress_ = progress;
  if (!live_) {
    console_.err << step_line(step, console_.err_style) << std::flush;
    return;
  }
  // Turning points stay on the screen above the block.
  if (progress.best_step != best_step_ && progress.best_step == step.number) {
    erase();
    console_.err << step_line(step, console_.err_style);
  }
  best_step_ = progress.best_step;
  draw();
}

void SearchView::show(const RunNote& note) {
  const std::string& text = note.text;
  if (!live_) {
    console_.err << paint("  .. " + printable(text), Colour::dim, console_.err_style) << std::endl;
    return;
  }
  tier_ = printable(text);
  draw();
}

void SearchView::show(const TierEvent& event) {
  tier_ = event.tier;
  draw();
}

}  // namespace kerf::cli
