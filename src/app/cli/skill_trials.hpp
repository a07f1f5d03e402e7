#pragma once
// A skill's trial from the command line.

#include "app/cli/skill_commands.hpp"
#include "skill/library.hpp"

namespace kerf::cli {

/// Tries the skill by three arms and keeps the evidence; the skill as it is then. Progress goes to stderr.
Result<skill::Skill> try_and_keep(SkillStore& store, const skill::Skill& skill, const SkillsOptions& options,
                                  const Environment& environment, Console& console);

}  // namespace kerf::cli
