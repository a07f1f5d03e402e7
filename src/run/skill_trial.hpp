#pragma once
// A trial of a skill by three arms, on real executions: every sample is a short search through the same judge as any.

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "run/minds.hpp"
#include "run/run_config.hpp"
#include "run/run_task.hpp"
#include "skill/gate.hpp"
#include "target/target.hpp"

namespace kerf {

struct SkillTrial {
  skill::Skill skill;
  std::vector<TaskText> tasks;  ///< of its scope, at least three
  TaskText unrelated;           ///< outside of it
  RunConfig config;             ///< of every sample: target, minds, evaluations; the seed is that of the trial
  MindAccess access{};          ///< keys of the minds
  skill::GateOptions gate{};
  std::vector<std::string> settings{};  ///< of the search, as given ("search.starts=0"): the evidence names them
  std::filesystem::path folder;         ///< for the samples' runs, which are removed again
};

/// Told of every sample, from the calling thread.
using OnSample = std::function<void(const skill::GateTask& task, skill::Arm arm, int repeat, const skill::Sample&)>;

/// The evidence, complete. Nothing is learned from the samples but that. `interrupted` ends it with an error.
Result<skill::Evidence> try_skill(const SkillTrial& trial, const TargetResources& resources, const OnSample& on_sample,
                                  const std::atomic<bool>& interrupted);

/// Tasks to try a skill on, out of `known`: the easiest of its scope, the one that it was learned on last, and the
/// easiest outside of it. An error says what is missing.
struct TrialTasks {
  std::vector<TaskText> tasks;
  TaskText unrelated;
};
Result<TrialTasks> choose_trial_tasks(const skill::Skill& skill, const std::string& target,
                                      const std::vector<TaskText>& known, std::size_t count);

}  // namespace kerf
