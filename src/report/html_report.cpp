#include "report/html_report.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/text.hpp"
#include "run/standing.hpp"

namespace kerf::report {

/// Generated: the files of page/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

/// The panels and what they share, in the order of the list in CMakeLists.txt.
std::string run_script() {
  std::string text;
  for (const auto& [name, content] : embedded_files())
    if (name.ends_with(".js") && name != "dom.js") text += content;
  return text;
}

std::string summary(const RunView& run) {
  const std::string steps = counted(run.steps.size(), "step");
  if (run.best == 0) return steps + "; nothing was measured yet.";
  const Measurement* measurement = measurement_of(run.step(run.best));
  if (measurement == nullptr) return steps + "; nothing was timed.";
  if (is_fallback(run.step(run.best))) return fmt::format("The plain kernel stays the best after {}.", steps);
  return fmt::format("Step {} is {}: {:.3g} times as fast, after {}.", run.best, standing_text(measurement->speedup),
                     measurement->speedup.ratio, steps);
}

}  // namespace

std::string html_report(const RunView& run, const std::vector<ShapeCost>& costs) {
  HtmlPage page;
  page.title = fmt::format("{} on {} · kerf", run.fact("task"), run.fact("target"));
  page.summary = summary(run);
  page.hint = "kerf show and kerf explain print the same facts as text.";
  page.data = report_data(run, costs);
  page.script = run_script();
  return html_page(page);
}

}  // namespace kerf::report
