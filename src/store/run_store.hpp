#pragma once
// A run's memory: every step that was reported, in order, in SQLite (WAL). Whatever is here survives kill -9.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "model/evaluation.hpp"

namespace kerf {

inline constexpr int kStoreSchema = 1;  ///< PRAGMA user_version; one numbered migration per version

/// One evaluated (or skipped) proposal. Everything needed to replay the archive without evaluating again.
struct Step {
  std::int64_t number = 0;            ///< 1, 2, 3, ... without gaps
  std::string stage;                  ///< "start", "search", "tune", "final"; stored
  std::string proposer, operation;    ///< "builtin", "parameter"
  std::string change;                 ///< for people
  std::vector<std::int64_t> parents;  ///< steps
  std::string name;                   ///< the candidate's label
  std::string source;                 ///< the whole candidate file
  std::string genome;
  Bindings tunables;      ///< as evaluated
  std::string direction;  ///< what was asked for: "memory+1"; "" for none
  Evaluation evaluation;
  std::vector<int> cell;    ///< empty when it was not measured
  std::string descriptors;  ///< JSON: what was seen in the compiled code
  std::string decision;     ///< why it was kept or not, one sentence
  bool kept = false;        ///< entered the archive
  double seconds = 0;       ///< run time at which it was reported, without pauses between resumes
};

/// The folder runs/<task>-<target>-<time>/ with `kerf.db`, `events.jsonl` and `run.toml`. One process at a time:
/// `create` and `open` for writing take a lock and refuse a second one clearly. Not thread-safe.
class RunStore {
 public:
  enum class Access { read, write };

  /// A new run; the folder may exist when it is empty.
  static Result<std::unique_ptr<RunStore>> create(const std::filesystem::path& folder);
  /// An existing run. Reading works beside a writer. Opening for writing brings events.jsonl into step with the
  /// database.
  static Result<std::unique_ptr<RunStore>> open(const std::filesystem::path& folder, Access access);
  ~RunStore();

  /// Commits the step durably, then appends its line to events.jsonl. The caller reports it to people only afterwards.
  Status append(const Step& step);
  Result<std::vector<Step>> steps() const;
  Result<Step> step(std::int64_t number) const;

  /// Small facts by name. Setting one is durable. Readers (show, report, export, prove) know these:
  ///   task         the task's name              task_source  text of its .toml file
  ///   task_files   JSON {path as the task writes it: text} of C++ references and baselines; absent when it names none
  ///   target, device, toolchain, kerf_version, seed
  ///   search       "kerf", "published", "random" config       the effective configuration as TOML, as in run.toml
  ///   peaks        JSON {"copy": bytes/s, "fma_f32": FLOP/s, ...}; absent without calibration
  ///   best_step    the winner so far            finished     why the run ended; absent while it can go on
  ///   elapsed_seconds
  Status set(const std::string& key, const std::string& value);
  Result<std::optional<std::string>> get(const std::string& key) const;
  Result<std::map<std::string, std::string>> facts() const;  ///< all of them

  /// A line of events.jsonl that is not a step ("started", "resumed", "stopped: patience").
  Status note(const std::string& kind, const std::map<std::string, std::string>& details);

  const std::filesystem::path& folder() const;

 private:
  struct Impl;
  explicit RunStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kerf
