#include "bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "bench/results.hpp"
#include "bench/scores.hpp"

namespace kerf::bench {
namespace {

constexpr double kFirstOverhead = 8;  ///< seconds per problem beside its search, before one was seen
constexpr double kLeastSearch = 2;    ///< seconds: with less than this left no search is begun
constexpr int kReady = 2;             ///< imported problems that wait for the device, beside those being imported

double seconds_of(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// The next thing to do with a problem; none when there is nothing.
std::optional<Stage> next_stage(const Record& record) {
  if (record.failure != Failure::none) return wants_baseline(record) ? std::optional(Stage::compare) : std::nullopt;
  switch (record.progress) {
    case Progress::missing: return Stage::import_model;
    case Progress::imported: return Stage::search;
    case Progress::searched: return Stage::export_kernel;
    case Progress::exported: return Stage::compare;
    case Progress::done: break;
  }
  return {};
}

double& spent_on(Record& record, Stage stage) {
  switch (stage) {
    case Stage::import_model: return record.spent.import_seconds;
    case Stage::search: return record.spent.search_seconds;
    case Stage::export_kernel: return record.spent.export_seconds;
    case Stage::compare: break;
  }
  return record.spent.compare_seconds;
}

/// Problems on their way through the stages, with workers that each take some of the stages.
class Pipeline {
 public:
  Pipeline(const BenchRequest& request, const Parts& parts, Clock& clock, BenchObserver& observer,
           const std::atomic<bool>& interrupted, BenchState& state, std::vector<std::size_t> asked)
      : request_(request),
        parts_(parts),
        clock_(clock),
        observer_(observer),
        interrupted_(interrupted),
        state_(state),
        asked_(std::move(asked)),
        begin_(clock.now()) {
    for (const std::size_t index : asked_)
      if (state_.records[index].finished()) ++finished_before_;
  }

  void run() {
    const std::set<Stage> all{Stage::import_model, Stage::search, Stage::export_kernel, Stage::compare};
    std::vector<std::thread> threads;
    if (request_.overlap) {
      for (int i = 0; i < std::max(1, request_.import_threads); ++i)
        threads.emplace_back([this] { work({Stage::import_model}); });
      threads.emplace_back([this] { work({Stage::export_kernel}); });
      work({Stage::search, Stage::compare});
    } else {
      work(all);
    }
    for (std::thread& thread : threads) thread.join();
  }

  BenchProgress progress() {
    const std::lock_guard lock(mutex_);
    return progress_locked();
  }
  double elapsed() const { return seconds_of(clock_.now() - begin_); }
  bool out_of_time() const { return out_of_time_; }
  const std::optional<Error>& fatal() const { return fatal_; }

 private:
  double seconds_left() const {
    return request_.budget.total_seconds > 0 ? request_.budget.total_seconds - elapsed() : 1e12;
  }

  /// With the lock held: whether nothing new is begun.
  bool ending() {
    if (fatal_ || interrupted_) return true;
    const double left = seconds_left();
    if (left > 0) return false;
    out_of_time_ = true;
    return true;
  }

  BenchProgress progress_locked() const {
    BenchProgress now;
    now.problems = static_cast<int>(asked_.size());
    for (const std::size_t index : asked_) {
      const Record& record = state_.records[index];
      if (record.finished()) ++now.finished;
      if (record.failure != Failure::none) ++now.failed;
      if (const ScoredTask task = task_of(record, Over::eager, Verdict::kerf); task.correct && task.speedup > 1)
        ++now.faster;
    }
    now.seconds = elapsed();
    const int here = now.finished - finished_before_, open = now.problems - now.finished;
    if (open == 0)
      now.seconds_left = 0;
    else if (here > 0)
      now.seconds_left = now.seconds / here * open;
    if (request_.budget.total_seconds > 0) {
      const double left = std::max(0.0, seconds_left());
      now.seconds_left = now.seconds_left < 0 ? left : std::min(left, now.seconds_left);
    }
    return now;
  }

  /// With the lock held: the furthest problem that can go on by one of these stages.
  std::optional<std::pair<std::size_t, Stage>> take(const std::set<Stage>& stages) {
    std::optional<std::pair<std::size_t, Stage>> best;
    int waiting = 0;
    for (const std::size_t index : asked_) {
      const auto stage = next_stage(state_.records[index]);
      if (stage == Stage::search || (running_.contains(index) && stage == Stage::import_model)) ++waiting;
      if (!stage || running_.contains(index) || !stages.contains(*stage)) continue;
      if (!best || *stage > best->second) best = {index, *stage};
    }
    if (best && best->second == Stage::import_model && request_.overlap &&
        waiting >= kReady + std::max(1, request_.import_threads))
      return {};
    if (best && best->second == Stage::search && seconds_left() < kLeastSearch) {
      out_of_time_ = true;
      return {};
    }
    return best;
  }

  bool anything_open() const {
    return std::any_of(asked_.begin(), asked_.end(),
                       [&](std::size_t index) { return next_stage(state_.records[index]).has_value(); });
  }

  void work(const std::set<Stage>& stages) {
    std::unique_lock lock(mutex_);
    while (!ending() && !out_of_time_) {
      if (const auto next = take(stages)) {
        const auto [index, stage] = *next;
        running_.insert(index);
        lock.unlock();
        do_stage(index, stage);
        lock.lock();
        running_.erase(index);
        changed_.notify_all();
        continue;
      }
      if (!anything_open()) break;
      changed_.wait_for(lock, std::chrono::milliseconds(200));
    }
    changed_.notify_all();
  }

  /// With the lock held.
  Job job_for(const Record& record, Stage stage, bool& bounded) {
    const Budget& budget = request_.budget;
    Job job;
    job.folder = request_.folder / problem_folder(record.problem);
    job.most_seconds = budget.stage_seconds;
    job.most_memory_bytes = budget.stage_memory_bytes;
    job.stop = &interrupted_;
    const double left = seconds_left();
    if (stage == Stage::search) {
      job.evaluations = budget.task_evaluations;
      job.seconds = budget.task_seconds;
      if (budget.total_seconds > 0) {
        const double share = share_of(left, searches_left(), overhead(), kLeastSearch);
        job.seconds = job.seconds > 0 ? std::min(job.seconds, share) : share;
      }
      job.most_seconds += job.seconds;
    } else if (stage == Stage::compare && budget.total_seconds > 0) {
      job.seconds = share_of(left, searches_left() + 1, 0);  // a measure of how short time is
    }
    bounded = left < job.most_seconds;
    if (bounded) job.most_seconds = std::max(0.1, left);
    return job;
  }

  int searches_left() const {
    return static_cast<int>(std::count_if(asked_.begin(), asked_.end(), [&](std::size_t index) {
      const auto stage = next_stage(state_.records[index]);
      return stage && *stage <= Stage::search;
    }));
  }

  /// Seconds that a problem keeps the device (or, without overlap, the machine) beside its search, so far.
  double overhead() const {
    double sum = 0;
    int count = 0;
    for (const std::size_t index : asked_) {
      const Record& record = state_.records[index];
      if (!record.finished()) continue;
      const Spent& spent = record.spent;
      sum += spent.compare_seconds + (request_.overlap ? 0 : spent.import_seconds + spent.export_seconds);
      ++count;
    }
    return count > 0 ? sum / count : kFirstOverhead;
  }

  void do_stage(std::size_t index, Stage stage) {
    Record record;
    Job job;
    bool bounded = false;
    {
      const std::lock_guard lock(mutex_);
      record = state_.records[index];
      if (record.seed == 0) record.seed = Rng(state_.facts.seed).fork("bench " + problem_id(record.problem)).bits() | 1;
      job = job_for(record, stage, bounded);
      observer_.stage_started(record, stage, progress_locked());
    }
    const Record told = record;
    job.say = [this, told, stage](const std::string& words) {
      const std::lock_guard lock(mutex_);
      observer_.said(told, stage, words, progress_locked());
    };
    const Nanoseconds began = clock_.now();
    if (stage == Stage::search && request_.overlap && parts_.prepare) parts_.prepare(job, record);
    StageEnd end = part(stage)(job, record);
    spent_on(record, stage) += seconds_of(clock_.now() - began);
    const std::lock_guard lock(mutex_);
    const bool out = bounded && end.failure == Failure::timed_out;
    if (end.stopped || out) {
      out_of_time_ = out_of_time_ || out;
      return;
    }
    settle(index, stage, std::move(record), end);
  }

  const std::function<StageEnd(const Job&, Record&)>& part(Stage stage) const {
    switch (stage) {
      case Stage::import_model: return parts_.import_model;
      case Stage::search: return parts_.search;
      case Stage::export_kernel: return parts_.export_kernel;
      case Stage::compare: break;
    }
    return parts_.compare;
  }

  /// With the lock held: the stage is over, whatever came of it, and is kept before it is told.
  void settle(std::size_t index, Stage stage, Record record, const StageEnd& end) {
    if (record.failure != Failure::none) {
      // Only PyTorch was timed, beside a kernel that there is not; the failure stays what it was.
      if (record.compile_status.empty()) record.compile_status = "failed";
    } else if (end.failure != Failure::none) {
      record.failure = end.failure;
      record.stage = stage_word(stage);
      record.message = end.message;
    } else {
      record.progress = static_cast<Progress>(static_cast<int>(stage) + 1);
    }
    state_.records[index] = std::move(record);
    const Record& kept = state_.records[index];
    Status written = write_record(request_.folder, kept);
    if (written && !next_stage(kept)) written = write_results(request_.folder, state_);
    if (!written) {
      fatal_ = written.error();
      return;
    }
    observer_.stage_finished(kept, stage, progress_locked());
    if (!next_stage(kept)) observer_.problem_finished(kept, progress_locked());
  }

  const BenchRequest& request_;
  const Parts& parts_;
  Clock& clock_;
  BenchObserver& observer_;
  const std::atomic<bool>& interrupted_;
  BenchState& state_;                     // guarded by mutex_
  const std::vector<std::size_t> asked_;  // indices into its records, in order
  const Nanoseconds begin_;
  int finished_before_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::size_t> running_;  // guarded by mutex_, as is what follows
  std::optional<Error> fatal_;
  std::atomic<bool> out_of_time_{false};
};

}  // namespace

std::string_view stage_word(Stage stage) {
  constexpr const char* kWords[] = {"import", "search", "export", "compare"};
  return kWords[static_cast<std::size_t>(stage)];
}

bool wants_baseline(const Record& record) {
  if (record.failure == Failure::none || !record.compile_status.empty()) return false;
  if (record.stage == stage_word(Stage::import_model)) return record.failure == Failure::refused;
  return record.stage != stage_word(Stage::compare);
}

double share_of(double seconds_left, int searches, double overhead, double least) {
  if (searches <= 0) return least;
  return std::max(least, seconds_left / searches - overhead);
}

Result<BenchResult> run_bench(const BenchRequest& request, const Parts& parts, Clock& clock, BenchObserver& observer,
                              const std::atomic<bool>& interrupted) {
  BenchResult result;
  std::vector<std::string> damaged;
  KERF_TRY(result.state, open_state(request.folder, request.facts, request.problems, damaged));
  std::set<std::string> asked;
  for (const Problem& problem : request.problems) asked.insert(problem_id(problem));
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < result.state.records.size(); ++i) {
    Record& record = result.state.records[i];
    if (!asked.contains(problem_id(record.problem))) continue;
    indices.push_back(i);
    if (request.retry_failed) forget_failures(request.folder, std::span(&record, 1));
  }
  KERF_TRY_VOID(write_facts(request.folder, result.state));
  Pipeline pipeline(request, parts, clock, observer, interrupted, result.state, indices);
  observer.began(
      pipeline.progress(),
      damaged.empty() ? "" : fmt::format("begun again, because their records cannot be read: {}", join(damaged, ", ")));
  pipeline.run();
  if (pipeline.fatal()) return tl::unexpected<Error>(*pipeline.fatal());
  KERF_TRY_VOID(write_results(request.folder, result.state));
  result.seconds = pipeline.elapsed();
  result.interrupted = interrupted;
  result.out_of_time = pipeline.out_of_time() && !result.interrupted;
  return result;
}

}  // namespace kerf::bench
