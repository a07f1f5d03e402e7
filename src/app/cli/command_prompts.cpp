#include <fmt/format.h>

#include <cmath>

#include "app/cli/memory_option.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/render.hpp"
#include "app/cli/run_commands.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "report/line_diff.hpp"
#include "run/kept_prompts.hpp"
#include "run/prompts.hpp"
#include "store/find_run.hpp"
#include "store/run_store.hpp"

namespace kerf::cli {
namespace {

std::string percent(double gain) { return fmt::format("{:+.1f} %", 100 * (std::exp(gain) - 1)); }

std::string list_text(const agents::PromptPopulation& prompts, const Style& style) {
  std::vector<std::vector<Cell>> rows{{{"prompt"}, {"edited from"}}};
  for (const char* name : {"answers", "mean gain", "best gain", "bound"}) rows[0].push_back({name, Colour::none, true});
  rows[0].push_back({"state"});
  for (const agents::PromptVariant& one : prompts.variants()) {
    const bool seed = &one == &prompts.seed();
    const auto credit = prompts.credit(one);
    rows.push_back({{one.id, Colour::bold},
                    {seed ? "-" : one.parent},
                    {std::to_string(one.uses), Colour::none, true},
                    {one.uses > 0 ? percent(one.mean) : "-", Colour::none, true},
                    {one.uses > 0 ? percent(one.best) : "-", Colour::none, true},
                    {credit ? percent(*credit) : "-", Colour::none, true},
                    {seed          ? "seed, never changed"
                     : one.dropped ? "dropped"
                                   : "in use"}});
  }
  return table(rows, style) +
         paint(fmt::format("rule: {}; gains over the kernel that was shown, less the mean gain of that time\n",
                           agents::prompt_rule_name(prompts.options().rule)),
               Colour::dim, style);
}

std::string diff_text(const agents::PromptVariant& before, const agents::PromptVariant& after, const Style& style) {
  std::string text;
  const auto lines = report::diff_lines(agents::sections_text(before.sections), agents::sections_text(after.sections));
  for (const auto& hunk : report::hunks(lines)) {
    text += paint("...\n", Colour::dim, style);
    for (const auto& line : hunk) {
      const Colour colour = line.sign == '+' ? Colour::green : line.sign == '-' ? Colour::red : Colour::dim;
      text += paint(fmt::format("{} {}", line.sign, printable(line.text)), colour, style) + "\n";
    }
  }
  return text.empty() ? "the two are the same\n" : text;
}

Result<std::unique_ptr<PromptStore>> kept_store(const PromptsOptions& options, const Environment& environment) {
  const auto file = memory_file(options.memory, environment);
  if (file.empty())
    return fail(Errc::invalid_input, "prompts are kept in the memory, which is off; name its file with --memory FILE");
  return open_prompt_store(file);
}

/// Of the run that is named, or what is kept of all runs.
Result<agents::PromptPopulation> population_of(const PromptsOptions& options, const Environment& environment) {
  if (!options.run.empty() && options.run != "kept") {
    KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
    KERF_TRY(const auto run, open_run_store(folder, RunStore::Access::read));
    return prompts_of(*run);
  }
  const std::string target = options.target.empty() ? default_target() : options.target;
  KERF_TRY_VOID(check_target_name(target));
  KERF_TRY(const auto store, kept_store(options, environment));
  KERF_TRY(const auto kept, store->prompts(target));
  return kept_population(kept);
}

bool is_file_action(const std::string& action) { return action == "export" || action == "import" || action == "reset"; }

/// What takes kept prompts elsewhere, brings them here or forgets them.
Status change_kept(const PromptsOptions& options, const Environment& environment, Console& console) {
  if (!options.target.empty()) {
    KERF_TRY_VOID(check_target_name(options.target));
  }
  KERF_TRY(const auto store, kept_store(options, environment));
  if (options.action == "import") {
    if (options.run.empty()) return fail(Errc::invalid_input, "which file? kerf prompts import FILE");
    KERF_TRY(const std::string text, read_file(options.run));
    auto kept = parse_prompts_file(text, SystemClock().wall_ms());
    if (!kept) return fail(kept.error().code, fmt::format("{}: {}", options.run, kept.error().message));
    KERF_TRY_VOID(store->keep("", *kept));
    console.out << fmt::format("{} imported; new runs try them\n",
                               counted(static_cast<std::int64_t>(kept->size()), "prompt"))
                << std::flush;
    return {};
  }
  KERF_TRY(const auto kept, store->prompts(options.target));
  if (options.action == "reset") {
    KERF_TRY_VOID(store->remove(kept));
    console.out << fmt::format("{} forgotten; new runs begin with the seed\n",
                               counted(static_cast<std::int64_t>(kept.size()), "prompt"))
                << std::flush;
    return {};
  }
  if (!options.run.empty() && options.run != "-")
    return write_output({options.run, OutputKind::prompts, {memory_file(options.memory, environment)}},
                        prompts_file(kept));
  console.out << prompts_file(kept) << std::flush;
  return {};
}

}  // namespace

Status prompts(const PromptsOptions& options, const Environment& environment, Console& console) {
  if (is_file_action(options.action)) return change_kept(options, environment, console);
  KERF_TRY(const agents::PromptPopulation all, population_of(options, environment));
  if (options.action == "list") {
    console.out << list_text(all, console.out_style);
    return {};
  }
  if (options.action == "show") {
    KERF_TRY(const agents::PromptVariant* one, find_prompt(all, options.first.empty() ? "seed" : options.first));
    console.out << printable(agents::sections_text(one->sections));
    return {};
  }
  if (options.action == "diff") {
    if (options.first.empty())
      return fail(Errc::invalid_input,
                  "which prompt? kerf prompts diff RUN PROMPT [OTHER]; 'kerf prompts list RUN' has them");
    KERF_TRY(const agents::PromptVariant* after,
             find_prompt(all, options.second.empty() ? options.first : options.second));
    if (options.second.empty() && after == &all.seed())
      return fail(Errc::invalid_input,
                  fmt::format("'{}' is the seed, which was edited from no other; kerf prompts diff RUN PROMPT OTHER "
                              "compares any two",
                              options.first));
    const std::string origin = after->parent.empty() ? "seed" : after->parent;
    KERF_TRY(const agents::PromptVariant* before, find_prompt(all, options.second.empty() ? origin : options.first));
    console.out << diff_text(*before, *after, console.out_style);
    return {};
  }
  return fail(
      Errc::invalid_input,
      fmt::format("unknown action '{}'; choose one of: list, show, diff, export, import, reset", options.action));
}

}  // namespace kerf::cli
