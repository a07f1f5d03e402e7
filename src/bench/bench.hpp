#pragma once
// A benchmark from its first problem to its table: imports run ahead of the device, exports behind it, one measurement
// at a time on the device; what fails is a row.

#include <atomic>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "bench/bench_folder.hpp"
#include "bench/parts.hpp"

namespace kerf::bench {

struct Budget {
  double total_seconds = 0;             ///< of the whole call; 0: no limit
  double task_seconds = 0;              ///< of one search; 0: shared out of the total, or by evaluations alone
  int task_evaluations = 0;             ///< of one search; 0: no limit
  double stage_seconds = 300;           ///< most that a stage may take beyond what it should
  std::int64_t stage_memory_bytes = 0;  ///< most that its processes may have; 0: no limit
};

struct BenchRequest {
  std::filesystem::path folder;
  BenchFacts facts;
  std::vector<Problem> problems;  ///< asked for now; the others of the folder are only reported
  Budget budget;
  bool overlap = true;     ///< imports and exports beside measurements; false where the target runs on the host
  int import_threads = 2;  ///< with overlap
  bool retry_failed = false;
};

/// Where a bench stands.
struct BenchProgress {
  int problems = 0, finished = 0, failed = 0;  ///< of those asked for now
  double seconds = 0;                          ///< of this call
  double seconds_left = -1;                    ///< estimated; negative: not known yet
  int faster = 0;                              ///< finished ones that count for fast_1 over eager
};

/// Told from several threads, one at a time.
class BenchObserver {
 public:
  virtual ~BenchObserver() = default;
  virtual void began(const BenchProgress& progress, const std::string& remark) = 0;
  virtual void stage_started(const Record& record, Stage stage, const BenchProgress& progress) = 0;
  virtual void said(const Record& record, Stage stage, const std::string& words, const BenchProgress& progress) = 0;
  virtual void stage_finished(const Record& record, Stage stage, const BenchProgress& progress) = 0;
  virtual void problem_finished(const Record& record, const BenchProgress& progress) = 0;
};

struct BenchResult {
  BenchState state;
  bool interrupted = false;  ///< by the user
  bool out_of_time = false;  ///< by the budget
  double seconds = 0;
};

/// Errors are about the bench itself: a folder of something else, a disk that is full. Nothing that a problem does is
/// one. The caller holds the folder's lock.
Result<BenchResult> run_bench(const BenchRequest& request, const Parts& parts, Clock& clock, BenchObserver& observer,
                              const std::atomic<bool>& interrupted);

/// Whether PyTorch alone is still to be timed: its own figures belong into the table whatever became of the kernel.
bool wants_baseline(const Record& record);

/// What a search gets of a total: an equal share of what is left for `searches` of them, without what the other stages
/// took per problem so far (`overhead` seconds); at least `least`.
double share_of(double seconds_left, int searches, double overhead, double least = 1);

}  // namespace kerf::bench
