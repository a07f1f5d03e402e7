#include "run/skill_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "run/campaign.hpp"
#include "run/optimize_task.hpp"
#include "run/run_skills.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using skill::Arm;
using skill::Sample;

/// Also gives the device's name to the evidence.
class DeviceWatch final : public RunObserver {
 public:
  void on_event(const RunEvent& event) override {
    if (const auto* mark = std::get_if<RunMark>(&event))
      if (const auto found = mark->details.find("device"); found != mark->details.end()) device = found->second;
  }
  std::string device;
};

agents::SkillOffer offer_for(const skill::Skill& skill, Arm arm) {
  agents::SkillOffer offer;
  offer.always = true;
  if (arm == Arm::without) return offer;
  offer.skills = {skill};
  if (arm == Arm::placebo) {
    offer.placebo = true;
    offer.skills = {placebo_of(skill)};
    offer.skills[0].hints = skill.hints;  // they say how many kernels are drawn at random
  }
  return offer;
}

/// The best of what the minds wrote; kernels that a user has anyway do not count.
Result<Sample> sample_of(const fs::path& folder) {
  KERF_TRY(const auto store, open_run_store(folder, RunStore::Access::read));
  KERF_TRY(const auto steps, store->steps());
  Sample sample;
  for (const Step& step : steps) {
    const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
    if (measured == nullptr || is_trial(step) || is_fallback(step) || !(measured->speedup.ratio > 0)) continue;
    const double speed = std::log(measured->speedup.ratio);
    sample.log_speedup = sample.right ? std::max(sample.log_speedup, speed) : speed;
    sample.right = true;
  }
  return sample;
}

RunConfig sample_config(const SkillTrial& trial, std::uint64_t seed) {
  RunConfig config = trial.config;
  config.search.seed = seed;
  config.search.tunings = 0;
  config.search.finalists = 0;
  return config;
}

}  // namespace

Result<skill::Evidence> try_skill(const SkillTrial& trial, const TargetResources& resources, const OnSample& on_sample,
                                  const std::atomic<bool>& interrupted) {
  std::vector<skill::GateTask> tasks;
  std::map<std::string, const TaskText*> texts;
  for (const TaskText& task : trial.tasks) {
    tasks.push_back({task.task.name, false});
    if (!texts.insert({task.task.name, &task}).second)
      return fail(Errc::invalid_input, fmt::format("two tasks of the trial are named '{}'", task.task.name));
  }
  tasks.push_back({trial.unrelated.task.name, true});
  if (!texts.insert({trial.unrelated.task.name, &trial.unrelated}).second)
    return fail(Errc::invalid_input,
                fmt::format("'{}' cannot be of the skill's scope and outside of it", trial.unrelated.task.name));
  DeviceWatch watch;
  int number = 0;
  const auto take = [&](const skill::GateTask& task, Arm arm, int repeat, std::uint64_t seed) -> Result<Sample> {
    if (interrupted) return fail(Errc::cancelled, "the trial was interrupted; nothing was decided");
    OptimizeRequest request;
    request.task = *texts.at(task.name);
    request.config = sample_config(trial, seed);
    request.access = trial.access;
    request.folder = trial.folder / fmt::format("{}-{}-{}", ++number, task.name, arm_name(arm));
    request.trial = offer_for(trial.skill, arm);
    const auto run = optimize_task(request, resources, watch, interrupted);
    auto sample = run ? sample_of(request.folder) : Result<Sample>(tl::unexpected<Error>(run.error()));
    std::error_code ignored;
    fs::remove_all(request.folder, ignored);
    if (run && run->search.interrupted) return fail(Errc::cancelled, "the trial was interrupted; nothing was decided");
    if (sample && on_sample) on_sample(task, arm, repeat, *sample);
    return sample;
  };
  KERF_TRY(skill::Evidence evidence, run_gate(tasks, trial.gate, trial.config.search.seed, take));
  evidence.target = trial.config.target;
  evidence.device = watch.device.substr(0, 190);
  std::vector<std::string> minds = trial.config.minds.names;
  for (const llm::ModelSpec& model : trial.config.minds.models) minds.push_back(model.name);
  evidence.mind = join(minds, ", ").substr(0, 190);
  evidence.settings = trial.settings;
  evidence.kerf_version = kKerfVersion;
  evidence.recorded_ms = SystemClock().wall_ms();
  return evidence;
}

Result<TrialTasks> choose_trial_tasks(const skill::Skill& skill, const std::string& target,
                                      const std::vector<TaskText>& known, std::size_t count) {
  std::vector<const TaskText*> order;
  for (const TaskText& one : known)
    if (one.task.graph) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [](const TaskText* a, const TaskText* b) { return difficulty(a->task) < difficulty(b->task); });
  // That it helps where it was learned says least.
  std::stable_partition(order.begin(), order.end(),
                        [&](const TaskText* one) { return !skill.origin.ends_with(" on " + one->task.name); });
  if (!skill.scope.targets.empty() &&
      !applies(skill, target, skill.scope.families.empty() ? "" : skill.scope.families[0]))
    return fail(Errc::invalid_input, fmt::format("the skill '{}' is for {}, not for {}", skill.name,
                                                 join(skill.scope.targets, ", "), target));
  TrialTasks chosen;
  bool outside = false;
  for (const TaskText* one : order) {
    const bool inside = applies(skill, target, family_of(one->task));
    if (inside && chosen.tasks.size() < count) {
      chosen.tasks.push_back(*one);
    } else if (!outside && (!inside || skill.scope.families.empty())) {
      chosen.unrelated = *one;
      outside = true;
    }
  }
  if (chosen.tasks.size() < count || !outside)
    return fail(
        Errc::invalid_input,
        fmt::format("there are only {} of {} sample tasks for the trial of '{}'; name others with --task (three "
                    "or more of its scope) and --unrelated",
                    chosen.tasks.size(), count, skill.name));
  return chosen;
}

}  // namespace kerf
