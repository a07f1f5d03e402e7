#pragma once
// All skills of a user: kept in the file of the memory, with those that Kerf comes with. New ones are merged with what
// is known already, and there is a limit to how many are kept.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "skill/skill.hpp"

namespace kerf {

/// What came of a kernel that was written with a skill, against those of the same run without one.
struct SkillUse {
  std::string run;
  std::int64_t step = 0;
  std::string skill;  ///< id
  double gain = 0;    ///< difference of log speedups
};

/// Not thread-safe; several processes may use one file at a time.
class SkillStore {
 public:
  virtual ~SkillStore() = default;
  /// By id. Records that cannot be read are left out and named in `skipped`.
  virtual Result<std::vector<skill::Skill>> skills(std::vector<std::string>& skipped) const = 0;
  /// Writes and removes in one commit.
  virtual Status change(const std::vector<skill::Skill>& written, const std::vector<std::string>& removed) = 0;
  /// Those that were not noted before, in their order; the others are noted now. Each run and step counts once.
  virtual Result<std::vector<SkillUse>> note_uses(const std::vector<SkillUse>& uses) = 0;
};

/// In the file of the memory; made and brought up to date as `open_memory_store` does.
Result<std::unique_ptr<SkillStore>> open_skill_store(const std::filesystem::path& file);

namespace skill {

struct LibraryLimits {
  std::size_t most = 200;       ///< skills; beyond that those of least use are dropped
  double near_duplicate = 0.8;  ///< likeness above which two skills of the same scope are one
};

/// What is in the store, and the seeds that are not.
Result<std::vector<Skill>> all_skills(const SkillStore& store, std::vector<std::string>& skipped);

/// What adding a skill came to.
struct Added {
  std::string id;                    ///< of the skill that is kept
  bool known = false;                ///< it was there already
  std::string merged_with;           ///< name of the one it was merged into; ""
  std::vector<std::string> dropped;  ///< names of those that had to go
};

/// Adds a candidate. One that is nearly the same as a known one of the same scope is merged: of the two the one that is
/// further (verified before candidate, then the larger posterior effect, then the older) keeps text and evidence, takes
/// over the tags of the other and names it as a parent.
Result<Added> add_skill(SkillStore& store, Skill skill, const LibraryLimits& limits = {});

/// Notes a trial: the skill becomes verified or refused, and a verified one that fails is retired.
Skill with_evidence(Skill skill, Evidence evidence);

/// The newest trial on a machine of the user's own, on this target; for skills that Kerf comes with, and that were not
/// tried here yet, the one they come with. Null when there is none.
const Evidence* trusted_trial(const Skill& skill, std::string_view target);

/// Notes a shorter trial of a verified skill. It stays verified when this trial refuses it neither clearly nor by its
/// own 90 % intervals, and all trials on the target together, each counting half as much as the one after it, still
/// show it to be faster than without it and than a placebo; else it is retired.
Skill with_recheck(Skill skill, Evidence evidence);

/// Learns from uses, each once. Verified skills whose posterior effect is not positive any more are retired; their
/// names.
Result<std::vector<std::string>> learn_uses(SkillStore& store, const std::vector<SkillUse>& uses);

}  // namespace skill
}  // namespace kerf
