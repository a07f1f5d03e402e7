#pragma once
// Which skills are shown with a question: a model is shown their headers and names at most three, or none.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "propose/agents/agent_task.hpp"
#include "propose/agents/context.hpp"
#include "propose/agents/prompt.hpp"
#include "skill/skill.hpp"

namespace kerf::agents {

/// How provenance names a skill: "skill:<id>".
inline constexpr std::string_view kSkillPrefix = "skill:";
inline constexpr std::size_t kMostShownSkills = 3;
inline constexpr double kWithoutSkills = 0.25;  ///< share of the questions, to compare with

/// What a run may use of the skills.
struct SkillOffer {
  std::vector<skill::Skill> skills;  ///< the shortlist, most fitting first
  bool always = false;               ///< they are used without being chosen from: an arm of a trial
  bool placebo = false;              ///< they stand for a placebo: hints become kernels drawn at random
};

/// "select-<version of the templates>". `stage`: "draft" or "refine".
Result<Prompt> select_prompt(const AgentTask& task, const std::vector<skill::Skill>& skills, const std::string& stage,
                             const PromptOptions& options);

/// Indices of the skills that the answer names, by number or by name, in its order; empty for "none". An error for an
/// answer that is neither.
Result<std::vector<std::size_t>> selected_skills(std::string_view reply, const std::vector<skill::Skill>& skills);

/// Without a model: the first of the shortlist whose effect is known to be positive.
std::vector<std::size_t> skills_by_value(const std::vector<skill::Skill>& skills);

/// For who cannot be asked first: at most three of which no harm is expected, those that are expected to help most
/// first; none with every fourth seed, so that there is something to compare with. All of an arm of a trial.
std::vector<ContextItem> skills_to_show(const SkillOffer& offer, std::uint64_t seed);

ContextItem skill_item(const skill::Skill& skill);

}  // namespace kerf::agents
