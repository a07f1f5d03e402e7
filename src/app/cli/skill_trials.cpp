#include "app/cli/skill_trials.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "app/cli/commands.hpp"
#include "app/cli/host_load.hpp"
#include "app/cli/interrupt_guard.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/samples.hpp"
#include "base/one_line.hpp"
#include "run/run_skills.hpp"
#include "run/settings.hpp"
#include "run/skill_trial.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTrialTasks = 3;

Status fill_tasks(const skill::Skill& skill, const SkillsOptions& options, const Environment& environment,
                  SkillTrial& trial) {
  for (const std::string& path : options.tasks) {
    KERF_TRY(TaskText task, read_checked_task(path, environment));
    if (!applies(skill, trial.config.target, family_of(task.task)))
      return fail(Errc::invalid_input, fmt::format("{} is not of the scope of '{}' (its operators are of the family "
                                                   "'{}'); give it as --unrelated, or name others",
                                                   path, skill.name, family_of(task.task)));
    trial.tasks.push_back(std::move(task));
  }
  if (!options.unrelated.empty()) {
    KERF_TRY(trial.unrelated, read_checked_task(options.unrelated, environment));
  }
  if (!options.tasks.empty() && !options.unrelated.empty()) return {};
  KERF_TRY(const auto samples, expression_samples());
  KERF_TRY(TrialTasks chosen, choose_trial_tasks(skill, trial.config.target, samples, kTrialTasks));
  if (options.tasks.empty()) trial.tasks = std::move(chosen.tasks);
  if (options.unrelated.empty()) trial.unrelated = std::move(chosen.unrelated);
  return {};
}

Result<SkillTrial> trial_of(const skill::Skill& skill, const SkillsOptions& options, const Environment& environment) {
  SkillTrial trial;
  trial.skill = skill;
  trial.config.target = !options.target.empty()        ? options.target
                        : !skill.scope.targets.empty() ? skill.scope.targets[0]
                                                       : default_target();
  KERF_TRY_VOID(check_target_name(trial.config.target));
  trial.config.device = options.device;
  trial.config.search.evaluations = options.evaluations;
  trial.config.search.seed = options.seed ? *options.seed : fresh_seed();
  KERF_TRY(const Settings settings, parse_settings(options.set));
  KERF_TRY_VOID(apply_settings(settings, trial.config.judge, &trial.config.search));
  for (const auto& [name, value] : settings.options)
    if (name.starts_with("search.")) trial.settings.push_back(fmt::format("{}={}", name, value));
  KERF_TRY_VOID(overlay_minds(options.minds, trial.config.minds));
  KERF_TRY(trial.access, mind_access(options.minds, trial.config.minds, environment));
  trial.gate.most = options.samples;
  trial.gate.first = std::min(trial.gate.first, options.samples);
  const bool builtin = trial.config.minds.has(kBuiltinMind);
  if (builtin && trial.config.minds.names.size() == 1 && skill.hints.empty())
    return fail(Errc::invalid_input,
                fmt::format("'{}' has no hint that the builtin mind could act on; try it with --mind llm --model NAME",
                            skill.name));
  KERF_TRY_VOID(fill_tasks(skill, options, environment, trial));
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  trial.folder = (error ? fs::path("/tmp") : base) / fmt::format("kerf-trial-{}-{}", skill.id, ::getpid());
  return trial;
}

}  // namespace

Result<skill::Skill> try_and_keep(SkillStore& store, const skill::Skill& skill, const SkillsOptions& options,
                                  const Environment& environment, Console& console) {
  KERF_TRY(const SkillTrial trial, trial_of(skill, options, environment));
  const auto sandbox = make_sandbox();
  const TargetResources resources = make_context(environment, *sandbox, options.jobs);
  const InterruptGuard guard;
  const auto all = 3 * (trial.tasks.size() + 1) * static_cast<std::size_t>(trial.gate.most);
  if (!options.json)
    console.err << fmt::format("trial of {} on {}: {} samples at most, fewer when it is clear that it does not help\n",
                               skill.name, trial.config.target, all)
                << std::flush;
  std::size_t done = 0;
  const auto tell = [&](const skill::GateTask& task, skill::Arm arm, int, const skill::Sample& sample) {
    ++done;
    if (options.json) return;
    console.err << fmt::format("  {:>3} {:<8} {}: {}\n", done, arm_name(arm), one_line(task.name),
                               sample.right ? fmt::format("{:.2f}x", std::exp(sample.log_speedup)) : "no right kernel")
                << std::flush;
  };
  auto evidence = try_skill(trial, resources, tell, interrupted());
  std::error_code ignored;
  fs::remove_all(trial.folder, ignored);
  if (!evidence) return tl::unexpected<Error>(evidence.error());
  skill::Skill tried = with_evidence(skill, *std::move(evidence));
  KERF_TRY_VOID(store.change({tried}, {}));
  return tried;
}

}  // namespace kerf::cli
