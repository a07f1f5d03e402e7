#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {

Status explain(const ExplainOptions& options, const Environment&, Console& console) {
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(folder));
  const Style& style = console.out_style;
  if (options.step.empty()) {
    console.out << run_heading(run, style) << search_text(run, style) << std::flush;
    return {};
  }
  KERF_TRY(const auto number, find_step(run, options.step));
  console.out << step_text(run, number, options.diff, style) << std::flush;
  return {};
}

}  // namespace kerf::cli
