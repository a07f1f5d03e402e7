#pragma once
// The four things that are done with a problem. A bench only decides when and in which order; tests script them.

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "bench/record.hpp"

namespace kerf::bench {

enum class Stage { import_model, search, export_kernel, compare };
std::string_view stage_word(Stage stage);  ///< "import", "search", "export", "compare"; stored

/// What a stage may take and where it works.
struct Job {
  std::filesystem::path folder;             ///< of the problem: what there is from earlier stages, and where results go
  double seconds = 0;                       ///< of the search: what it should take; 0: its evaluations limit it
  int evaluations = 0;                      ///< of the search; 0: its seconds limit it
  double most_seconds = 0;                  ///< then the stage is ended
  std::int64_t most_memory_bytes = 0;       ///< resident, of the stage's processes; 0: no limit
  const std::atomic<bool>* stop = nullptr;  ///< set: end soon, without a result; never null in calls
  std::function<void(const std::string&)> say{};  ///< what is being done, for people; may be called from any thread
};

/// How a stage ended.
struct StageEnd {
  Failure failure = Failure::none;
  std::string message{};
  bool stopped = false;  ///< by Job::stop: it can be taken up again
};

/// Each fills in its part of the record. Calls for different problems may come from several threads at once; search and
/// compare use the device and are never called at the same time.
struct Parts {
  std::function<StageEnd(const Job&, Record&)> import_model, search, export_kernel, compare;
  /// Begins what of compare needs no kernel, beside the search that is about to begin; returns at once. May be empty.
  std::function<void(const Job&, const Record&)> prepare{};
};

/// Names of files in a problem's folder.
inline constexpr const char* kTaskFile = "task.toml";
inline constexpr const char* kRunFolder = "run";
inline constexpr const char* kSolutionFile = "solution.py";
inline constexpr const char* kRecordFile = "record.json";

}  // namespace kerf::bench
