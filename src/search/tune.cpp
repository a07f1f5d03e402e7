#include "search/tune.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/statistics.hpp"
#include "measure/combine.hpp"
#include "search/duplicates.hpp"
#include "search/tune_search.hpp"

namespace kerf {
namespace {

/// Compiles what is likely to be timed next; a new list replaces the rest of the old one.
class CompileAhead {
 public:
  CompileAhead(Judge& judge, const Candidate& candidate, int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this, &judge, &candidate] { work(judge, candidate); });
  }
  ~CompileAhead() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  void replace(std::deque<Bindings> next) {
    {
      const std::lock_guard lock(mutex_);
      next_ = std::move(next);
    }
    changed_.notify_all();
  }

 private:
  void work(Judge& judge, const Candidate& candidate) {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !next_.empty(); });
      if (stop_) return;
      const Bindings tunables = std::move(next_.front());
      next_.pop_front();
      lock.unlock();
      judge.prefetch(candidate, tunables);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bindings> next_;  // guarded by mutex_
  bool stop_ = false;          // guarded by mutex_
  std::vector<std::thread> threads_;
};

TimeEstimate estimate_of(const std::vector<double>& us) {
  const Interval interval = median_interval(us);
  return {median(us), interval.low, interval.high, static_cast<int>(us.size()), quantile(us, 0.25)};
}

TimeEstimate combined(const std::vector<TuneTrial::Timed>& shapes) {
  std::vector<WeightedEstimate> estimates;
  TimeEstimate result;
  for (const auto& shape : shapes) {
    estimates.push_back({shape.weight, shape.time.median, shape.time.low, shape.time.high});
    result.samples += shape.time.samples;
  }
  const CombinedEstimate all = combine(estimates).value_or(CombinedEstimate{});
  result.median = all.centre;
  result.low = all.low;
  result.high = all.high;
  return result;
}

/// The tuple's times in the form that is recorded.
Measurement as_measurement(const std::vector<TuneTrial::Timed>& shapes) {
  Measurement measurement;
  for (const auto& shape : shapes) {
    ShapeMeasurement measured;
    measured.shape = shape.shape;
    measured.weight = shape.weight;
    measured.time = shape.time;
    measurement.shapes.push_back(std::move(measured));
  }
  return measurement;
}

class Tuning {
 public:
  Tuning(Judge& judge, const Candidate& candidate, const TuneSpace& space, const TuneOptions& options, Clock& clock,
         TuneObserver& observer)
      : judge_(judge),
        candidate_(candidate),
        space_(space),
        options_(options),
        clock_(clock),
        observer_(observer),
        start_(clock.now()) {}

  Result<TuneReport> run() {
    KERF_TRY(const TuneSearchResult found, search());
    if (found.timings == 0)
      return fail(Errc::invalid_input, candidate_.name +
                                           ": no tuple of its tunables satisfies its requirements for every shape: " +
                                           space_.refusal(space_.defaults()) + " (defaults)");
    TuneReport report;
    report.timings = found.timings;
    report.complete = found.complete;
    report.known_code = found.known_code;
    report.unused = unused();
    report.seconds = elapsed();
    report.tuples = space_.tuples();
    report.defaults = space_.bindings(space_.defaults());
    for (const auto& [point, estimate] : found.ranking) report.table.push_back(trials_.at(point));
    for (const auto& [point, trial] : trials_)
      if (trial.refused) report.table.push_back(trial);
    KERF_TRY_VOID(decide(found, report));
    return report;
  }

 private:
  double elapsed() const { return static_cast<double>((clock_.now() - start_).count()) / 1e9; }

  Result<TuneSearchResult> search() {
    CompileAhead ahead(judge_, candidate_, std::max(0, options_.jobs));
    TuneSearchHooks hooks;
    hooks.time = [&](const TunePoint& point, int rounds) { return time_point(point, rounds); };
    hooks.is_known_code = [&](const TunePoint& point) { return is_known_code(point); };
    hooks.go_on = [&] {
      return (options_.seconds <= 0 || elapsed() < options_.seconds) && (!options_.go_on || options_.go_on());
    };
    hooks.soon = [&](const std::vector<TunePoint>& points) {
      std::deque<Bindings> next;
      for (std::size_t i = 1; i < points.size(); ++i)
        next.push_back(space_.bindings(points[i]));  // the first is compiled by `time_point`
      ahead.replace(std::move(next));
    };
    const TuneSearchOptions search{options_.evaluations, options_.seed, options_.rounds};
    return options_.passes > 0 ? tune_exhaustively(space_, search, options_.passes, hooks)
                               : tune_search(space_, search, hooks);
  }

  Result<bool> is_known_code(const TunePoint& point) {
    KERF_TRY(const auto compiled, judge_.compile(candidate_, space_.bindings(point)));
    if (!compiled) return false;  // timing it says why
    const std::string code = code_identity(candidate_.plan, *compiled);
    const bool known =
        std::any_of(codes_.begin(), codes_.end(), [&](const auto& other) { return other.second == code; });
    codes_[point] = code;
    return known;
  }

  /// The tunables that some tuples differ in alone, where all such tuples are the same code.
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < space_.tunables().size(); ++d) {
      std::map<TunePoint, std::string> without;  // code by the other tunables' values
      bool compared = false, differs = false;
      for (const auto& [point, code] : codes_) {
        TunePoint others = point;
        others[d] = 0;
        const auto [known, is_new] = without.emplace(others, code);
        compared = compared || !is_new;
        differs = differs || known->second != code;
      }
      if (compared && !differs) names.push_back(space_.tunables()[d].name);
    }
    return names;
  }

  Result<std::optional<TuneEstimate>> time_point(const TunePoint& point, int rounds) {
    TuneTrial& trial = trials_[point];
    trial.number = ++number_;
    ++trial.timings;
    trial.tunables = space_.bindings(point);
    KERF_TRY_VOID(take_samples(point, rounds, trial));
    // On a busy machine a few rounds may say nothing: disturbed timings take longer.
    constexpr double kDisturbed = 1.25;
    for (int again = 0; again < 2 && !trial.refused && trial.time.high > kDisturbed * trial.time.low; ++again)
      KERF_TRY_VOID(take_samples(point, 2 * rounds, trial));
    observer_.on_trial(trial);
    if (trial.refused) return std::optional<TuneEstimate>{};
    // The interval of the median covers about four standard errors; a few rounds cannot claim to be better than 0.5 %.
    const double width = std::log(trial.time.high / trial.time.low) / 4;
    return std::optional<TuneEstimate>({std::log(trial.score_us), std::max(width, 0.005)});
  }

  Status take_samples(const TunePoint& point, int rounds, TuneTrial& trial) {
    NullObserver silent;
    KERF_TRY(const QuickTiming quick, judge_.time_quickly(candidate_, trial.tunables, rounds, silent));
    trial.refused = quick.refused;
    trial.shapes.clear();
    if (quick.refused) return {};
    auto& samples = samples_[point];
    samples.resize(quick.shapes.size());
    for (std::size_t s = 0; s < quick.shapes.size(); ++s) {
      const auto& timed = quick.shapes[s];
      samples[s].insert(samples[s].end(), timed.us.begin(), timed.us.end());
      trial.shapes.push_back({timed.shape, timed.weight, estimate_of(samples[s]), samples[s]});
    }
    trial.time = combined(trial.shapes);
    trial.score_us = std::exp(ranking_log_us(as_measurement(trial.shapes)));
    return {};
  }

  /// The whole pipeline, once per tuple.
  Result<Evaluation> judged(const TunePoint& point) {
    if (const auto known = verdicts_.find(point); known != verdicts_.end()) return known->second;
    observer_.on_note("judging " + label(point));
    NullObserver silent;
    KERF_TRY(Evaluation evaluation, judge_.evaluate(candidate_, space_.bindings(point), silent));
    return verdicts_.emplace(point, std::move(evaluation)).first->second;
  }

  std::string label(const TunePoint& point) const {
    std::string text;
    for (const auto& [name, value] : space_.bindings(point))
      text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
    return text;
  }

  static bool measured(const Evaluation& evaluation) { return std::holds_alternative<Measurement>(evaluation.outcome); }

  /// The first of `order` that passes every gate, within a few tries.
  Result<std::optional<TunePoint>> first_that_passes(const std::vector<TunePoint>& order) {
    for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 5); ++i) {
      KERF_TRY(const Evaluation evaluation, judged(order[i]));
      if (measured(evaluation)) return std::optional(order[i]);
    }
    return std::optional<TunePoint>{};
  }

  Status decide(const TuneSearchResult& found, TuneReport& report) {
    std::vector<TunePoint> order;
    for (const auto& [point, estimate] : found.ranking) order.push_back(point);
    KERF_TRY(auto winner, first_that_passes(order));
    const TunePoint defaults = space_.defaults();
    if (!winner) {  // nothing passes: the verdict of what came closest
      report.best = report.defaults;
      KERF_TRY(report.verdict,
               judged(order.empty() ? (space_.allowed(defaults) ? defaults : trials_.begin()->first) : order.front()));
      report.best = report.verdict.tunables;
      return {};
    }
    if (*winner != defaults && space_.allowed(defaults)) {
      KERF_TRY(const bool keeps, beats_defaults(*winner, report));
      if (!keeps) {
        report.rejected = space_.bindings(*winner);
        winner = defaults;
      }
    }
    KERF_TRY(report.verdict, judged(*winner));
    report.best = space_.bindings(*winner);
    return decide_by_shape(found, *winner, report);
  }

  /// Verdicts may come from the cache or from a quieter minute, so their times are not compared: both tuples are timed
  /// in turn, now. Fills in `before` and `gain` when the winner is kept.
  Result<bool> beats_defaults(const TunePoint& winner, TuneReport& report) {
    const TunePoint defaults = space_.defaults();
    KERF_TRY(Evaluation before, judged(defaults));
    if (measured(before)) {
      observer_.on_note("timing " + label(winner) + " and the defaults in turn");
      const Bindings ours = space_.bindings(winner), theirs = space_.bindings(defaults);
      KERF_TRY(const PairedOutcome paired, judge_.compare({candidate_, ours}, {candidate_, theirs}));
      if (paired.refused || (paired.speedup && paired.speedup->ratio < 1)) return false;
      report.gain = paired.speedup;
    }
    report.before = std::move(before);
    return true;
  }

  /// A shape gets its own tuple where that is faster beyond the noise of both.
  Status decide_by_shape(const TuneSearchResult& found, const TunePoint& winner, TuneReport& report) {
    const TuneTrial& overall = trials_.at(winner);
    for (std::size_t s = 0; s < overall.shapes.size(); ++s) {
      const auto& reference = overall.shapes[s];
      report.best_by_shape[reference.shape] = report.best;
      if (overall.shapes.size() < 2) continue;
      std::vector<std::pair<double, TunePoint>> faster;
      for (const auto& [point, estimate] : found.ranking) {
        const TimeEstimate& time = trials_.at(point).shapes[s].time;
        if (point != winner && time.high < reference.time.low) faster.emplace_back(time.median, point);
      }
      std::sort(faster.begin(), faster.end());
      std::vector<TunePoint> order;
      for (auto& [us, point] : faster) order.push_back(std::move(point));
      KERF_TRY(const auto own, first_that_passes(order));
      if (own) report.best_by_shape[reference.shape] = space_.bindings(*own);
    }
    return {};
  }

  Judge& judge_;
  const Candidate& candidate_;
  const TuneSpace& space_;
  const TuneOptions& options_;
  Clock& clock_;
  TuneObserver& observer_;
  Nanoseconds start_;
  int number_ = 0;
  std::map<TunePoint, TuneTrial> trials_;
  std::map<TunePoint, std::vector<std::vector<double>>> samples_;  // per shape, all timings
  std::map<TunePoint, Evaluation> verdicts_;
  std::map<TunePoint, std::string> codes_;  // identity of the compiled code, of all that compile
};

}  // namespace

Result<TuneReport> tune(Judge& judge, const Candidate& candidate, const TuneOptions& options, Clock& clock,
                        TuneObserver& observer) {
  KERF_TRY(const TuneSpace space, TuneSpace::make(candidate, judge.shapes(), judge.target().device->facts()));
  return Tuning(judge, candidate, space, options, clock, observer).run();
}

Evaluation to_record(const TuneTrial& trial, const Evaluation& like) {
  Evaluation record;
  record.task = like.task;
  record.task_id = like.task_id;
  record.target = like.target;
  record.device = like.device;
  record.candidate = like.candidate;
  record.candidate_id = like.candidate_id;
  record.toolchain = like.toolchain;
  record.seed = like.seed;
  record.tunables = trial.tunables;
  record.notes = {"short timing while tuning, not a verdict: checked on the smallest shape, timed without baselines"};
  if (trial.refused) {
    record.outcome = *trial.refused;
    return record;
  }
  record.outcome = as_measurement(trial.shapes);
  return record;
}

double ranking_log_us(const Measurement& record) {
  double weight = 0, sum = 0;
  for (const ShapeMeasurement& shape : record.shapes) {
    const double us = shape.time.lower_quartile > 0 ? shape.time.lower_quartile : shape.time.median;
    weight += shape.weight;
    sum += shape.weight * std::log(std::max(us, 1e-9));
  }
  return weight > 0 ? sum / weight : 0;
}

}  // namespace kerf
