#include <fmt/format.h>

#include <cmath>

#include "app/cli/render.hpp"
#include "app/cli/run_commands.hpp"
#include "base/printable.hpp"
#include "report/line_diff.hpp"
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

}  // namespace

Status prompts(const PromptsOptions& options, const Environment&, Console& console) {
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, open_run_store(folder, RunStore::Access::read));
  KERF_TRY(const agents::PromptPopulation all, prompts_of(*run));
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
  return fail(Errc::invalid_input, fmt::format("unknown action '{}'; choose one of: list, show, diff", options.action));
}

}  // namespace kerf::cli
