#pragma once
// Experience that outlives a run. One file for all runs of a user or a team; SQLite behind it is in store/.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "memory/experience.hpp"

namespace kerf {

/// One experience that was used for a kernel of a run, and the reward that it got. Learned once per run, step and
/// experience, so that a run that is resumed teaches nothing twice.
struct MemoryUse {
  std::string run;
  std::int64_t step = 0;
  std::string experience;  ///< id
  memory::ValueStage stage = memory::ValueStage::draft;
  std::string family;  ///< operator family of the task it was used for
  double reward = 0;   ///< before scaling
};

/// Not thread-safe; several processes may use one file at a time.
class MemoryStore {
 public:
  virtual ~MemoryStore() = default;

  /// Adds experiences in one commit; one that is known gets the new figures, counts as seen once more unless it is of
  /// the same run, and keeps its values. Of each task on a target and device only the best are kept.
  virtual Status add(const std::vector<memory::Experience>& experiences) = 0;

  /// Learns the rewards in one commit, in their order. Uses of experiences that are not here are passed over.
  virtual Status learn(const std::vector<MemoryUse>& uses, memory::Rule rule) = 0;

  /// All, or those of one target; by id. Records that cannot be read are left out and named in `skipped`.
  virtual Result<std::vector<memory::Experience>> experiences(const std::string& target,
                                                              std::vector<std::string>& skipped) const = 0;
  /// Of all rewards of a stage; `refine` and `refine_shown` have them.
  virtual Result<memory::Moments> moments(memory::ValueStage stage = memory::ValueStage::refine) const = 0;
  /// The text of an experience's kernel; "" where none is kept. Experiences that are listed come without it.
  virtual Result<std::string> source(const std::string& experience) const = 0;
  virtual Result<std::vector<MemoryUse>> uses(const std::string& experience) const = 0;  ///< newest last
};

inline constexpr int kMemorySchema = 5;  ///< PRAGMA user_version of a memory file

/// The file is made when it is missing, with its folder. A file of another kind or of a newer Kerf is refused.
Result<std::unique_ptr<MemoryStore>> open_memory_store(const std::filesystem::path& file);

}  // namespace kerf
