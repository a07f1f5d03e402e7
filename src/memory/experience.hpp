#pragma once
// One thing that was tried on a task: how it was made, what came of it, and what it was worth later.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "memory/recipe.hpp"
#include "memory/signature.hpp"
#include "memory/values.hpp"

namespace kerf::memory {

inline constexpr const char* kKernelKind = "kernel";    ///< passed every gate and was timed
inline constexpr const char* kFailureKind = "failure";  ///< refused; `gate` and `message` say why

struct Experience {
  std::string id;    ///< of task, device and recipe (or source): what is tried again is the same experience
  std::string kind;  ///< one of the above; stored, never renamed
  std::string task, task_id;
  TaskSignature signature;
  Recipe recipe;              ///< without genes for kernels that were not made by the builtin mind
  std::string source_hash{};  ///< of the kernel's text; "" in experiences of older memories
  /// The kernel's text, where it was kept. Untrusted: shown as data or judged, nothing else. Stores keep it apart and
  /// hand it out by MemoryStore::source only.
  std::string source{};
  std::string outcome, gate, message;  ///< as in evaluations; gate and message are "" for kernels
  double speedup = 0;                  ///< over the strongest baseline; 0 for failures
  double share = 0;                    ///< of the speed of the best kernel of its run, (0, 1]; 0 for failures
  double time_us = 0;                  ///< of the main shape; 0 for failures
  bool confirmed = false;              ///< those figures are of a finalist that was measured again
  int seen = 1;                        ///< runs that tried it; the figures are those of the last one that confirmed it
  // Where it came from.
  std::string run;        ///< id of the run
  std::int64_t step = 0;  ///< in that run
  std::string mind, operation;
  std::string kerf_version;
  std::int64_t recorded_ms = 0;  ///< wall clock
  bool imported = false;
  bool frozen = false;  ///< its values are not learned
  std::map<ValueStage, StageValue> values;

  bool operator==(const Experience&) const = default;
};

/// How alike texts of tasks are by an embedding model, by task id; empty without one.
using TextSimilarity = std::map<std::string, double>;

/// Of the task and the experience's: by structure, or half by structure and half by text where that is known.
double similarity_to(const TaskSignature& task, const Experience& experience, const TextSimilarity& by_text);

/// A confirmed kernel keeps its figures when it is seen again and not confirmed: search figures favour the lucky.
void keep_confirmed(const Experience& known, Experience& again);

/// Identity by content (task id, target, device, and recipe or source): 16 hex digits. Names are no part of it.
std::string experience_id(const Experience& experience);

/// Puts the text of a kernel into `experience`: its hash, and the text itself where it may be kept.
void set_source(Experience& experience, const std::string& source);

/// A value as selection sees it, which is what was assumed at the beginning while there is no reward yet: a kernel
/// begins with +1 in the draft stage and with the reward that it would have had against its run's best when refining.
double value_of(const Experience& experience, ValueStage stage, const std::string& family);
double value_count(const Experience& experience, ValueStage stage);
/// The values that a new experience begins with.
std::map<ValueStage, StageValue> first_values(const Experience& experience);

/// One line of a memory file (docs/memory.md), with the source where there is one and the line stays within its limit.
std::string to_json(const Experience& experience);
/// Everything is held to limits: counts, lengths, ranges, the id. The error says what is wrong.
Result<Experience> experience_from_json(std::string_view line);

std::string values_to_json(const std::map<ValueStage, StageValue>& values);
Result<std::map<ValueStage, StageValue>> values_from_json(std::string_view text);

}  // namespace kerf::memory
