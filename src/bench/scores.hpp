#pragma once
// KernelBench's scores. A task counts with its point estimate; failed and missing tasks are in every denominator.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/record.hpp"

namespace kerf::bench {

/// What a score is made of: one task.
struct ScoredTask {
  bool correct = false;
  double speedup = 0;  ///< over the baseline; <= 0: not known
};

/// The fraction of all tasks that are correct and whose speedup is above `p`, not equal to it; 0 of no tasks.
double fast_p(std::span<const ScoredTask> tasks, double p);
/// Over all tasks; one that is not correct, or whose speedup is not known, counts as 1. 1 of no tasks.
double geometric_mean_with_failures(std::span<const ScoredTask> tasks);

struct Score {
  int tasks = 0;
  int correct = 0;
  int timed = 0;  ///< correct, with a speedup
  double fast_1 = 0, fast_1_2 = 0, fast_2 = 0;
  double geometric_mean = 1;
};
Score score(std::span<const ScoredTask> tasks);

/// Which speedup is counted, and whose verdict.
enum class Over { eager, compiled };
enum class Verdict { kerf, kernelbench };

/// A record as such a task. torch.compile's own figure over eager is `compiled_task`.
ScoredTask task_of(const Record& record, Over over, Verdict verdict);
ScoredTask compiled_task(const Record& record);

/// All figures of some problems.
struct ScoreSet {
  int level = -1;  ///< -1: all levels together
  int failed = 0, missing = 0, weak = 0;
  Score eager, compiled;  ///< by Kerf's verdict
  Score eager_by_kernelbench, compiled_by_kernelbench;
  Score torch_compile;                                             ///< torch.compile itself over eager
  std::optional<Score> eager_without_weak, compiled_without_weak;  ///< where there are weak ones
  double seconds = 0;                                              ///< spent on them
};

/// Of every level in `records`, in order; then of all of them where there are several.
std::vector<ScoreSet> score_sets(std::span<const Record> records);

/// How many failed for each reason, most first.
struct FailureCount {
  Failure failure = Failure::none;
  std::vector<std::string> problems;  ///< their ids
};
std::vector<FailureCount> failures_by_reason(std::span<const Record> records);

}  // namespace kerf::bench
