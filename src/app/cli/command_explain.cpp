#include <fmt/format.h>

#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "store/find_run.hpp"
#include "store/run_store.hpp"

namespace kerf::cli {

Status explain(const ExplainOptions& options, const Environment&, Console& console) {
  if (options.diff && options.step.empty())
    return fail(Errc::invalid_input, "--diff goes with a STEP: kerf explain RUN best --diff");
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(folder));
  const Style& style = console.out_style;
  if (options.step.empty()) {
    console.out << run_heading(run, style) << search_text(run, style) << std::flush;
    return {};
  }
  KERF_TRY(const auto number, find_step(run, options.step));
  KERF_TRY(const auto store, open_run_store(folder, RunStore::Access::read));
  KERF_TRY(const std::vector<Exchange> exchanges, store->exchanges(number));
  if (options.chat && exchanges.empty())
    return fail(Errc::invalid_input, fmt::format("step {} came about without a conversation", number));
  console.out << step_text(run, number, options.diff, style) << chat_text(exchanges, options.chat, style) << std::flush;
  return {};
}

}  // namespace kerf::cli
