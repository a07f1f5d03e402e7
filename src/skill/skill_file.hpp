#pragma once
// Skills as text: TOML files that people write, and JSON records, one a line, that are stored and exported. Both may
// come from anywhere: every count, length and range has a limit, and nothing in them is believed.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "skill/skill.hpp"

namespace kerf::skill {

/// A file as docs/skills.md describes it. State and evidence are not part of it: it is a candidate. `where` names the
/// file in errors; unknown keys are errors with the nearest known one.
Result<Skill> skill_from_toml(std::string_view text, const std::string& where);
/// The same form; what `skill_from_toml` reads.
std::string to_toml(const Skill& skill);

/// One line, with state, evidence and uses.
std::string to_json(const Skill& skill);
Result<Skill> skill_from_json(std::string_view line);

/// Exported skills: a first line that says what it is, then one skill a line.
std::string to_lines(const std::vector<Skill>& skills);

struct ReadSkills {
  std::vector<Skill> skills;
  std::vector<std::string> skipped;  ///< "line 3: 'name' is not ..."
};
/// Reads what `to_lines` wrote. All become candidates; their evidence is kept as somebody else's word and their uses
/// are forgotten. An error when it is no such file.
Result<ReadSkills> skills_from_lines(std::string_view text);

/// The skills that Kerf comes with, from skills/ of the source tree, with the evidence that was found for them there
/// (skills/evidence.jsonl).
const std::vector<Skill>& seed_skills();

/// `seeds` with the trials of an export: a trial belongs to the skill with the very same content, is one of another
/// machine, and makes it verified where it is the newest and admitted it. An error when it is no such export.
Result<std::vector<Skill>> with_shipped_evidence(std::vector<Skill> seeds, std::string_view exported);

}  // namespace kerf::skill
