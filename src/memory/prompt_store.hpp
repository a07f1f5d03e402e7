#pragma once
// Variants of the prompt that outlive a run: what models wrote for one task is where the next task of the target
// begins. SQLite behind it is in store/.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kerf {

/// What came of the questions that were asked with a variant.
struct PromptFigures {
  int uses = 0;       ///< answers whose gain is known
  double mean = 0;    ///< of their gains, each less the mean gain of its run, time and stage
  double square = 0;  ///< sum of squared distances from the mean
  double best = 0;    ///< largest gain

  bool operator==(const PromptFigures&) const = default;
};

/// The figures of both.
PromptFigures pooled(const PromptFigures& a, const PromptFigures& b);

struct KeptPrompt {
  std::string id;      ///< of the text
  std::string target;  ///< its tasks share it
  std::string parent;  ///< id of the variant that was edited; "" for the seed
  std::string text;    ///< all sections; from a model, so never more than data
  std::int64_t recorded_ms = 0;
  int runs = 0;  ///< that used it
  PromptFigures figures{};

  bool operator==(const KeptPrompt&) const = default;
};

/// Not thread-safe; several processes may use one file at a time.
class PromptStore {
 public:
  virtual ~PromptStore() = default;
  /// Of a target, or of all for ""; oldest first, then by id. `figures` are pooled over all runs.
  virtual Result<std::vector<KeptPrompt>> prompts(const std::string& target) const = 0;
  /// Adds variants that are not known, in one commit, with the figures of one run; what the same run left before is
  /// replaced, so that one that is resumed counts once. With the run "" figures are left out.
  virtual Status keep(const std::string& run, const std::vector<KeptPrompt>& prompts) = 0;
  virtual Status remove(const std::vector<KeptPrompt>& prompts) = 0;  ///< by id and target, with their figures
};

/// In the file of the memory; made and brought up to date as `open_memory_store` does.
Result<std::unique_ptr<PromptStore>> open_prompt_store(const std::filesystem::path& file);

}  // namespace kerf
