#include <fmt/format.h>

#include "app/cli/define_commands.hpp"
#include "app/cli/define_options.hpp"
#include "app/cli/memory_option.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kMemoryNotes =
    R"(Every search adds what it measured to a memory, and begins with kernels that worked on similar tasks. They are candidates like
others: nothing from a memory is believed before it was judged.

Actions:
  stats            what is known, by task
  search TASK      kernels of tasks like this one, most similar first
  show ID          one experience with its values and uses
  export [FILE]    as a text file (- or nothing: stdout)
  import FILE      what somebody else learned; records that cannot be used are named and left out

Examples:
  kerf memory search tasks/softmax.toml
  kerf memory export ours.jsonl --without softmax --without rmsnorm)";

constexpr const char* kCampaignNotes =
    R"(Easy tasks come first. In each round every task gets its share of the evaluations, so that later rounds begin with what all tasks
taught. --time, --max-tokens and --max-cost are for the whole campaign: a turn gets an equal share of what is left. A task that
fails does not stop the others. The same command with the same --out goes on where it was interrupted.

Examples:
  kerf campaign tasks/*.toml --evals 60
  kerf campaign sample:softmax sample:rmsnorm --out runs/rows --json
  kerf campaign tasks/*.toml --mind builtin,llm --model NAME --base-url http://127.0.0.1:8080/v1 --max-tokens 1000000)";

}  // namespace

void define_memory_commands(CLI::App& app, Options& options) {
  auto* command = app.add_subcommand("memory", "What was learned from earlier searches: look, export, import");
  command->footer(kMemoryNotes);
  MemoryOptions& memory = options.memory;
  command->add_option("ACTION", memory.action, "stats, search, show, export or import")->required()->type_name("");
  command->add_option("WHAT", memory.what, "A task file, an experience's id, or a file")->type_name("");
  add_value(command, "--memory", memory.memory, "FILE", "The memory (default: the user's own)");
  add_value(command, "--target", memory.target, "NAME",
            fmt::format("Of search: {} (default: {})", target_choices(), default_target()));
  add_value(command, "--without", memory.without, "TASK", "A task that export or import leaves out; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--top", memory.top, "NUMBER", "Rows of search (default: 10)")
      ->check(CLI::Range(1, 100000).description(""));
  command->add_flag("--source", memory.source, "Of show: the kernel's text too");
  command->add_flag("--json", memory.json, "One JSON object on stdout, nothing else");

  auto* tasks = app.add_subcommand("campaign", "Search for many tasks, each with what the others taught");
  tasks->footer(kCampaignNotes);
  CampaignOptions& campaign = options.campaign;
  tasks->add_option("TASK", campaign.tasks, "Task files")->required()->type_name("");
  add_value(tasks, "--target", campaign.target, "NAME",
            fmt::format("{} (default: {})", target_choices(), default_target()));
  add_value(tasks, "--device", campaign.device, "NAME", "Which device of the target");
  add_value(tasks, "--evals", campaign.evaluations, "NUMBER", "Evaluations per task (default: 100)")
      ->check(CLI::Range(1, 10000000).description(""));
  add_value(tasks, "--time", campaign.seconds, "SECONDS",
            "Most time of all searches together, shared equally, before finalists are measured again; without --evals "
            "the only "
            "limit")
      ->check(seconds_above_zero());
  add_value(tasks, "--rounds", campaign.rounds, "NUMBER", "Rounds in which they are spent (default: 2)")
      ->check(CLI::Range(1, 1000).description(""));
  add_seed(tasks, campaign.seed, "Seed of every choice and of the test data; otherwise a fresh one");
  add_value(tasks, "--memory", campaign.memory, "FILE", kMemoryHelp);
  add_value(tasks, "--memory-rule", campaign.memory_rule, "NAME",
            "How experience is chosen: kerf (default); published or similar, for comparison");
  add_value(tasks, "--skills", campaign.skills, "NAME", kSkillsHelp);
  add_value(
      tasks, "--recheck", campaign.recheck, "NUMBER",
      "Most evaluations for trying verified skills again at the end (default: a fifth of the campaign's); 0: none")
      ->check(whole_number(0, 10000000));
  add_value(tasks, "--out", campaign.out, "FOLDER", "The campaign's folder (default: runs/campaign-<target>-<time>)");
  add_value(tasks, "--set", campaign.set, "NAME=VALUE", "A setting, for example search.patience=30; may be repeated")
      ->expected(1)
      ->take_all();
  add_embedding(tasks, campaign.embedding);
  define_minds(tasks, campaign.minds);
  tasks->add_flag("--json", campaign.json, "One JSON object on stdout at the end, nothing else");
  add_value(tasks, "--jobs", campaign.jobs, "NUMBER", "Compilers side by side (default: one per core)")
      ->check(CLI::Range(0, 1024).description(""));
}

}  // namespace kerf::cli
