#pragma once
// What the skills of a run came to, as people look at it.

#include <cstddef>
#include <string>
#include <vector>

#include "run/run_view.hpp"
#include "skill/skill.hpp"

namespace kerf {

struct SkillTally {
  skill::Skill skill;        ///< as it was when the run began
  std::size_t used = 0;      ///< kernels or answers with it
  std::size_t passed = 0;    ///< of those, measured
  std::size_t best = 0;      ///< of those, faster than all before
  std::size_t compared = 0;  ///< of those, with others of the same run without a skill to compare with
  double gain = 0;           ///< their mean difference of log speedups to those
};

/// The skills that the run could use, those with most uses first; empty for runs without.
std::vector<SkillTally> tally_skills(const RunView& run);

/// The last trial on a machine of the user's own; null when there is none.
const skill::Evidence* last_trial(const skill::Skill& skill);

}  // namespace kerf
