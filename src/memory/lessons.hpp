#pragma once
// What a run teaches: experiences of its kernels, and rewards for those that were recalled for it.

#include <cstdint>
#include <functional>
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

/// The recipe of a step's genome with the tunables it was evaluated with; none when it has none.
using RecipeOf = std::function<std::optional<Recipe>(const Step& step)>;

/// Of kernels the best of each composition and then the fastest, of failures one per composition and gate. Quick
/// timings, duplicates and fallbacks teach nothing; a finalist that was measured again counts with those figures.
Lessons lessons_of(const std::vector<Step>& steps, const RunOrigin& origin, const RecipeOf& recipe_of, Rule rule);

}  // namespace kerf::memory
