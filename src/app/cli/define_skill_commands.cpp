#include <fmt/format.h>

#include "app/cli/define_commands.hpp"
#include "app/cli/define_options.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kSkillNotes =
    R"(A skill is advice on writing kernels: text for language models, hints for the builtin mind. Searches use those that were shown
to help: 'verify' tries one in three arms (without it, with it, with a placebo) on tasks of its scope and one outside of it.

Actions:
  list             all skills, with state and effect
  search WORDS     skills about something, best match first
  show NAME        one skill with its evidence
  add FILE...      from files (docs/skills.md), as candidates
  verify NAME      try it on this machine: real searches, minutes
  export [FILE]    as a text file (- or nothing: stdout)
  import FILE      what somebody else has; all become candidates

Examples:
  kerf skills search softmax rows
  kerf skills verify keep-the-row --evals 4
  kerf skills verify my-advice --mind llm --model NAME --base-url http://127.0.0.1:8080/v1 --task a.toml --task b.toml --task c.toml)";

}  // namespace

void define_skill_commands(CLI::App& app, Options& options) {
  auto* command = app.add_subcommand("skills", "Advice with evidence: look, add, verify, export, import");
  command->footer(kSkillNotes);
  SkillsOptions& skills = options.skills;
  command->add_option("ACTION", skills.action, "list, search, show, add, verify, export or import")
      ->required()
      ->type_name("");
  command->add_option("WHAT", skills.what, "Words, a skill's name or id, or files")->type_name("");
  add_value(command, "--memory", skills.memory, "FILE", "The memory they are kept in (default: the user's own)");
  add_value(command, "--target", skills.target, "NAME",
            fmt::format("Of search and verify: {} (default: the skill's)", target_choices()));
  add_value(command, "--device", skills.device, "NAME", "Of verify: which device of the target");
  add_value(command, "--task", skills.tasks, "TASK",
            "Of verify: a task of its scope, three or more (default: samples); may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--unrelated", skills.unrelated, "TASK", "Of verify: a task outside of its scope");
  add_value(command, "--samples", skills.samples, "NUMBER", "Of verify: samples an arm and task (default: 12)")
      ->check(whole_number(2, 10000));
  add_value(command, "--evals", skills.evaluations, "NUMBER", "Of verify: evaluations of one sample (default: 6)")
      ->check(whole_number(1, 10000));
  add_value(command, "--set", skills.set, "NAME=VALUE", "Of verify: a setting of the samples; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--mind", skills.minds.minds, "NAMES", "Of verify: builtin (default), llm, or both: builtin,llm");
  add_models(command, skills.minds);
  add_seed(command, skills.seed, "Of verify: seed of every choice; otherwise a fresh one");
  add_value(command, "--jobs", skills.jobs, "NUMBER", "Compilers side by side (default: one per core)")
      ->check(whole_number(0, 1024));
  command->add_flag("--json", skills.json, "One JSON object on stdout, nothing else");
}

}  // namespace kerf::cli
