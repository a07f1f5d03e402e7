#pragma once
// Verified skills tried again: machines, compilers and Kerf itself change, and what helped may help no more. A campaign
// spends a part of its evaluations on it, and what is left of that part on the first trial of a candidate.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "run/run_config.hpp"
#include "run/run_task.hpp"
#include "run/skill_trial.hpp"
#include "skill/library.hpp"

namespace kerf {

inline constexpr int kRecheckTasks = 3;             ///< of a skill's scope, besides one outside of it
inline constexpr int kRecheckEvaluations = 3;       ///< of one sample
inline constexpr double kRecheckShare = 0.1;        ///< of the verified skills, at least one
inline constexpr double kRecheckBudgetShare = 0.2;  ///< of a campaign's evaluations
inline constexpr int kRecheckLeastRepeats = 2;      ///< samples an arm and task below which nothing can be said
/// Evaluations of one sample of every arm and task.
inline constexpr int kRepeatCost = 3 * (kRecheckTasks + 1) * kRecheckEvaluations;

struct RecheckedSkill {
  std::string id, name;
  bool first = false;  ///< a candidate's first trial, by the whole gate
  bool holds = false;  ///< is verified after it
  std::string reason;
  int pairs = 0;                         ///< of this trial, over the tasks of the scope
  double effect = 0, low = 0, high = 0;  ///< of this trial: difference of mean log speedups, 90 % interval
  int evaluations = 0;                   ///< that it took, at most

  bool operator==(const RecheckedSkill&) const = default;
};

struct Recheck {
  int budget = 0;       ///< evaluations that were allowed
  int evaluations = 0;  ///< that were used, at most
  int verified = 0;     ///< skills that could be tried again
  int candidates = 0;   ///< skills that could have their first trial
  std::vector<RecheckedSkill> skills;
  std::string note;  ///< why fewer were tried than should have been; ""

  bool operator==(const Recheck&) const = default;
};

/// As it is kept with a campaign, and back.
std::string to_json(const Recheck& recheck);
Result<Recheck> recheck_from_json(std::string_view text);

/// Verified skills of the target that these minds were tried with before, least recently tried on this machine first.
std::vector<skill::Skill> skills_to_recheck(const std::vector<skill::Skill>& all, const std::string& target,
                                            const MindConfig& minds);
/// Candidates of the target that these minds can act on, the newest first.
std::vector<skill::Skill> candidates_to_try(const std::vector<skill::Skill>& all, const std::string& target,
                                            const MindConfig& minds);

/// One trial; `try_skill` with what it needs.
using TrySkill = std::function<Result<skill::Evidence>(const SkillTrial& trial)>;
/// Told of every skill as it is done.
using OnRechecked = std::function<void(const RecheckedSkill&)>;

/// Tries the skills that are due within `budget` evaluations on tasks out of `known`, and keeps what came of it: one
/// that does not hold is retired. What is left of the budget goes to the newest candidate, where it is enough for the
/// whole gate. `config`: target, device, minds and seed. An interrupted trial decides nothing and is no error.
Result<Recheck> recheck_skills(SkillStore& store, const RunConfig& config, const std::vector<TaskText>& known,
                               int budget, const std::filesystem::path& folder, const TrySkill& try_one,
                               const OnRechecked& on_rechecked);

}  // namespace kerf
