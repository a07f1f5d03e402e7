#pragma once
// What a run teaches: experiences of its kernels, and rewards for those that were recalled for it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory_store.hpp"
#include "model/step.hpp"

namespace kerf::memory {

/// How steps name an experience in their provenance: "experience:<id>".
inline constexpr std::string_view kContextPrefix = "experience:";

/// What experiences of a run have in common.
struct RunOrigin {
  std::string run;  ///< an id that no other run has
  std::string task, task_id;
  TaskSignature signature;
  std::string kerf_version;
  std::int64_t recorded_ms = 0;
};

struct Lessons {
  std::vector<Experience> experiences;
  std::vector<MemoryUse> uses;
};

/// What the steps of a run were worth to what was used for them. Takes steps in order; not thread-safe.
class StepRewards {
 public:
  struct Reward {
    ValueStage stage = ValueStage::draft;
    double value = 0;
  };
  explicit StepRewards(Rule rule) : rule_(rule) {}

  /// None for steps that teach nothing. A step whose writer was shown things has a stage of those: drafts have no
  /// measured parent, and what refines one is compared with it as well as with the run's best (except by `published`).
  std::optional<Reward> observe(const Step& step);

 private:
  Rule rule_;
  double best_ = 0;
  std::map<std::int64_t, double> speeds_;  // of measured steps
};

/// Whether a language model or an agent program wrote the step's kernel.
bool was_written(const Step& step);

/// The recipe of a step's genome with the tunables it was evaluated with; none when it has none.
using RecipeOf = std::function<std::optional<Recipe>(const Step& step)>;

/// How a run presents its kernels: their speedups beside each other, and that of its winner. Without it, as each step
/// measured by itself.
struct Presented {
  std::function<double(const Step& step)> speedup_of{};
  double best = 0;
};

/// Of kernels the best of each composition and then the fastest, with their sources, of failures one per composition
/// and gate; kernels that are neither of a genome nor written by an agent are the user's own and teach nothing. What
/// was shown with a question gets its reward less the mean of the run's others in that stage (except by `published`),
/// so that it is not praised for an easy task. Quick timings, duplicates and fallbacks teach nothing; a finalist that
/// was measured again counts with those figures.
Lessons lessons_of(const std::vector<Step>& steps, const RunOrigin& origin, const RecipeOf& recipe_of, Rule rule,
                   const Presented& presented = {});

}  // namespace kerf::memory
