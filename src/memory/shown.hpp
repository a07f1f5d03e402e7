#pragma once
// Which experiences are shown to a language model or an agent program with a question, by what showing them was worth.

#include <string>
#include <vector>

#include "base/rng.hpp"
#include "memory/experience.hpp"

namespace kerf::memory {

struct ShownOptions {
  Rule rule = Rule::kerf;
  int kernels = 2;                ///< shown with a question
  int failures = 1;               ///< refused kernels among what is shown: what went wrong before
  int pool_factor = 16;           ///< pool size over the above
  double least_similarity = 0.1;  ///< of the pool
  double control = 0.1;           ///< share of questions with none, which show what the others add (kerf, similar)
  double epsilon = 0.1;           ///< share of random choices (published)
  // What is believed before anything was seen (kerf); tests/perf/context_value.py compares others.
  double expected = 0.3;     ///< reward that showing an experience of the same task adds, falling with similarity
  double doubt = 0.2;        ///< deviation of that, falling likewise
  double noise = 0.6;        ///< deviation of one reward
  double other_stage = 0.5;  ///< what a use in the other stage counts
  TextSimilarity by_text{};  ///< of an embedding model; empty: structure alone counts
};

/// An experience that may be shown, with its similarity to the task.
struct Pooled {
  double similarity = 0;
  Experience experience;
};

/// The most similar first: of each task the best kernel of every composition, eight at most, and its failures.
std::vector<Pooled> shown_pool(const TaskSignature& task, const std::vector<Experience>& known,
                               const ShownOptions& options);

/// Places in `pool` of what is shown in a stage (`draft_shown` or `refine_shown`) for a task of this operator family;
/// the kernels first. By `kerf` a draw from what is believed of each (Thompson sampling): what is similar is expected
/// to help until it was seen not to. Deterministic in its arguments.
std::vector<std::size_t> choose_shown(const std::vector<Pooled>& pool, ValueStage stage, const std::string& family,
                                      const ShownOptions& options, Rng rng);

}  // namespace kerf::memory
