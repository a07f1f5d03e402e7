#pragma once
// Which experiences to begin a new task with: a wide pool by similarity, then a few by what they are worth.

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "memory/experience.hpp"

namespace kerf::memory {

struct RetrieveOptions {
  Rule rule = Rule::kerf;
  int count = 4;                  ///< experiences that are chosen
  int pool_factor = 8;            ///< pool size over `count`
  double least_similarity = 0.3;  ///< of the pool
  double exploration = 0.3;       ///< weight of the upper confidence bound (kerf)
  double value_weight = 0.5;      ///< against a similarity of weight 1 (kerf)
  double epsilon = 0.1;           ///< share of random choices (published)
  TextSimilarity by_text{};       ///< of an embedding model; empty: structure alone counts
};

/// An experience chosen for a task, with the reasons.
struct Recalled {
  std::string id, task;
  double similarity = 0, value = 0, speedup = 0;
  Recipe recipe;
  std::string source{};  ///< of a kernel of this very task that is judged as it is; "": the recipe is adapted
};

/// What a run takes from a memory; recorded with the run, so that it can be resumed and replayed without the memory.
struct Recollection {
  Rule rule = Rule::kerf;
  std::vector<Recalled> items;
  /// By "family/variant": the share of the best speed that it reaches on tasks like this one, as far as is known.
  std::map<std::string, double> advice;
};

/// `known` are the experiences of one target; `moments` of all rewards set the scale of what is worth exploring.
/// Experiences with ids in `without` are passed over. Deterministic in its arguments.
Recollection retrieve(const TaskSignature& task, const std::vector<Experience>& known, const Moments& moments,
                      const RetrieveOptions& options, const std::vector<std::string>& without, Rng rng);

/// The `count` most similar kernels, best first, with their similarity; those without a recipe too.
std::vector<std::pair<double, const Experience*>> most_similar(const TaskSignature& task,
                                                               const std::vector<Experience>& known, std::size_t count,
                                                               double least, const TextSimilarity& by_text = {});

std::string to_json(const Recollection& recollection);
Result<Recollection> recollection_from_json(std::string_view text);

}  // namespace kerf::memory
