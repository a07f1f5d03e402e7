#pragma once
// A run on disk: every step that was reported, in order. Whatever is here survives kill -9.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/event.hpp"
#include "model/step.hpp"

namespace kerf {

inline constexpr int kStoreSchema = 3;  ///< PRAGMA user_version; one numbered migration per version

/// What a run keeps. Not thread-safe. One implementation per database: SQLite here; knowledge that outlives a run
/// (memory, skills, prompts) gets interfaces of its own beside this one, over the same `Database` and migrations.
class RunStore {
 public:
  enum class Access { read, write };
  virtual ~RunStore() = default;

  /// Keeps the events that a run is made of: a StepFinished adds its step and its line of events.jsonl in one commit, a
  /// RunMark its line. Durable when it returns; viewers are told only afterwards. Other events are not kept.
  virtual Status record(const RunEvent& event) = 0;
  Status append(const Step& step) { return record(StepFinished{step, {}}); }
  Status note(const std::string& kind, const std::map<std::string, std::string>& details) {
    return record(RunMark{kind, details});
  }
  virtual Result<std::vector<Step>> steps() const = 0;
  virtual Result<Step> step(std::int64_t number) const = 0;
  /// The conversation behind a step, in order; empty for minds without one. `steps` and `step` leave it out.
  virtual Result<std::vector<Exchange>> exchanges(std::int64_t step) const = 0;

  /// Small facts by name. Setting one is durable. Readers (show, report, export, prove) know these:
  ///   task         the task's name              task_source  text of its .toml file
  ///   task_files   JSON {path as the task writes it: text} of C++ references and baselines; absent when it names none
  ///   target, device, toolchain, kerf_version, seed
  ///   search       "kerf", "published", "random" config       the effective configuration as TOML, as in run.toml
  ///   peaks        JSON {"copy": bytes/s, "fma_f32": FLOP/s, ...}; absent without calibration
  ///   best_step    the winner so far            finished     why the run ended; absent while it can go on
  ///   elapsed_seconds                           run_id       what a memory knows the run by
  ///   remembered   JSON: what the run took from the memory (memory/retrieve.hpp); absent: nothing
  ///   pytorch      JSON: the winner beside the PyTorch model it was made from (pytorch/compare.hpp); pytorch_step: its
  ///   step model_spending  JSON {prompt_tokens, reply_tokens, cost_usd} of all questions, also those without a step
  virtual Status set(const std::string& key, const std::string& value) = 0;
  virtual Result<std::map<std::string, std::string>> facts() const = 0;  ///< all of them
  Result<std::optional<std::string>> get(const std::string& key) const;  ///< one of them

  virtual const std::filesystem::path& folder() const = 0;
};

/// A new run in the folder runs/<task>-<target>-<time>/ with `kerf.db` (SQLite, write-ahead log) and `events.jsonl`;
/// the folder may exist when it is empty. One process writes at a time: a second one is refused clearly.
Result<std::unique_ptr<RunStore>> create_run_store(const std::filesystem::path& folder);

/// Removes the files of a run that was created and did not start, while it is still open: only then they are nobody
/// else's. Other files in its folder stay.
void discard_run(const RunStore& run);

/// An existing run. Reading works beside a writer. Opening for writing brings events.jsonl into step with the database.
Result<std::unique_ptr<RunStore>> open_run_store(const std::filesystem::path& folder, RunStore::Access access);

}  // namespace kerf
