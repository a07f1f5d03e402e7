#pragma once
// A run and the skills: which it may use, what the builtin mind makes of them, and what it leaves behind.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"
#include "propose/agents/select.hpp"
#include "propose/proposer.hpp"
#include "propose/synth/synthesiser.hpp"
#include "run/run_task.hpp"
#include "run/text_likeness.hpp"
#include "skill/library.hpp"
#include "store/run_store.hpp"

namespace kerf {

/// The name of the mind that proposes what hints of skills ask for; stored, never renamed.
inline constexpr const char* kSkillMind = "skill";
/// How many skills are looked at more closely.
inline constexpr std::size_t kSkillShortlist = 20;

/// Which skills a run may use.
enum class SkillRule {
  verified,  ///< those that were shown to help
  all,       ///< candidates too, for those who write skills
  off,       ///< none, to compare with
};
std::string_view skill_rule_name(SkillRule rule);  ///< stored, never renamed
Result<SkillRule> skill_rule_from_name(std::string_view name);

/// The operator that costs most; "" for tasks without an expression.
std::string family_of(const Task& task);

/// Those of `skills` that the rule allows and whose scope the task is in, found by the task's words, best first. Of one
/// name only the newest version.
std::vector<skill::Skill> shortlist(const std::vector<skill::Skill>& skills, SkillRule rule, const TaskText& task,
                                    const std::string& target, TextLikeness* likeness = nullptr);

/// As it is recorded with a run, and back.
std::string to_json(const agents::SkillOffer& offer);
Result<agents::SkillOffer> offer_from_json(std::string_view text);

/// Kernels that the hints of a few skills ask for, those that are known to help most first and none that is expected to
/// do harm; a placebo has as many that are drawn at random. What cannot be written for this task is left out.
std::vector<Proposal> skill_kernels(const agents::SkillOffer& offer, const Task& task,
                                    const synth::Synthesiser& synthesiser, std::uint64_t seed, std::size_t most);
/// Proposes them before other first guesses.
std::unique_ptr<Proposer> make_skill_mind(std::vector<Proposal> kernels);

/// What kernels with a skill came to, against those of the same run without any: a kernel of a hint against the best of
/// the other first guesses, an answer of a model or program against the mean gain of the same mind in the
/// same stage without one.
std::vector<SkillUse> skill_uses(const std::vector<Step>& steps, const std::string& run);

/// Without a model: where the best kernel of the run is at least 1.2 times as fast as the first of its line (and as the
/// baseline), what differs between them as hints.
std::optional<skill::Skill> skill_from_lineage(const std::vector<Step>& steps, const TaskText& task,
                                               const std::string& target, const synth::Synthesiser& synthesiser);

/// What a run taught: uses are learned, skills that its models wrote down (or its lineage shows) become candidates.
struct SkillLessons {
  std::vector<std::string> added, retired;  ///< names
};
Result<SkillLessons> learn_skills(SkillStore& store, const RunStore& run, const TaskText& task,
                                  const std::string& target, const synth::Synthesiser* synthesiser,
                                  std::int64_t wall_ms);

}  // namespace kerf
