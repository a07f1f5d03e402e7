#include "bench/scores.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kerf::bench {
namespace {

double known_ratio(const std::optional<SpeedRatio>& ratio) {
  return ratio && std::isfinite(ratio->ratio) && ratio->ratio > 0 ? ratio->ratio : 0;
}

template <class Give>
Score scored(const std::vector<const Record*>& records, Give give) {
  std::vector<ScoredTask> tasks;
  tasks.reserve(records.size());
  for (const Record* record : records) tasks.push_back(give(*record));
  return score(tasks);
}

ScoreSet score_set(int level, const std::vector<const Record*>& records) {
  const auto by = [](Over over, Verdict verdict) {
    return [=](const Record& record) { return task_of(record, over, verdict); };
  };
  ScoreSet set;
  set.level = level;
  std::vector<const Record*> strong;
  for (const Record* record : records) {
    if (record->failure != Failure::none) ++set.failed;
    if (!record->finished()) ++set.missing;
    if (record->weak.empty())
      strong.push_back(record);
    else
      ++set.weak;
    set.seconds += record->spent.total();
  }
  set.eager = scored(records, by(Over::eager, Verdict::kerf));
  set.compiled = scored(records, by(Over::compiled, Verdict::kerf));
  set.eager_by_kernelbench = scored(records, by(Over::eager, Verdict::kernelbench));
  set.compiled_by_kernelbench = scored(records, by(Over::compiled, Verdict::kernelbench));
  set.torch_compile = scored(records, compiled_task);
  if (set.weak > 0) {
    set.eager_without_weak = scored(strong, by(Over::eager, Verdict::kerf));
    set.compiled_without_weak = scored(strong, by(Over::compiled, Verdict::kerf));
  }
  return set;
}

}  // namespace

double fast_p(std::span<const ScoredTask> tasks, double p) {
  if (tasks.empty()) return 0;
  const auto fast = std::count_if(tasks.begin(), tasks.end(),
                                  [&](const ScoredTask& task) { return task.correct && task.speedup > p; });
  return static_cast<double>(fast) / static_cast<double>(tasks.size());
}

double geometric_mean_with_failures(std::span<const ScoredTask> tasks) {
  if (tasks.empty()) return 1;
  double sum = 0;
  for (const ScoredTask& task : tasks)
    if (task.correct && task.speedup > 0) sum += std::log(task.speedup);
  return std::exp(sum / static_cast<double>(tasks.size()));
}

Score score(std::span<const ScoredTask> tasks) {
  Score score;
  score.tasks = static_cast<int>(tasks.size());
  for (const ScoredTask& task : tasks) {
    score.correct += task.correct ? 1 : 0;
    score.timed += task.correct && task.speedup > 0 ? 1 : 0;
  }
  score.fast_1 = fast_p(tasks, 1);
  score.fast_1_2 = fast_p(tasks, 1.2);
  score.fast_2 = fast_p(tasks, 2);
  score.geometric_mean = geometric_mean_with_failures(tasks);
  return score;
}

ScoredTask task_of(const Record& record, Over over, Verdict verdict) {
  const bool correct = verdict == Verdict::kerf ? record.correct : record.kernelbench_correct.value_or(false);
  return {record.progress == Progress::done && correct,
          known_ratio(over == Over::eager ? record.over_eager : record.over_compiled)};
}

ScoredTask compiled_task(const Record& record) {
  const double ratio = known_ratio(record.compiled_over_eager);
  return {ratio > 0, ratio};
}

std::vector<ScoreSet> score_sets(std::span<const Record> records) {
  std::map<int, std::vector<const Record*>> levels;
  std::vector<const Record*> all;
  for (const Record& record : records) {
    levels[record.problem.level].push_back(&record);
    all.push_back(&record);
  }
  std::vector<ScoreSet> sets;
  for (const auto& [level, members] : levels) sets.push_back(score_set(level, members));
  if (levels.size() > 1) sets.push_back(score_set(-1, all));
  return sets;
}

std::vector<FailureCount> failures_by_reason(std::span<const Record> records) {
  std::map<Failure, FailureCount> counts;
  for (const Record& record : records) {
    if (record.failure == Failure::none) continue;
    FailureCount& count = counts[record.failure];
    count.failure = record.failure;
    count.problems.push_back(problem_id(record.problem));
  }
  std::vector<FailureCount> sorted;
  for (auto& [failure, count] : counts) sorted.push_back(std::move(count));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const FailureCount& a, const FailureCount& b) { return a.problems.size() > b.problems.size(); });
  return sorted;
}

}  // namespace kerf::bench
