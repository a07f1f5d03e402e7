#pragma once
// Tuning: which values of a candidate's tunables are the fastest on this device.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "judge/judge.hpp"
#include "judge/observer.hpp"
#include "model/candidate.hpp"

namespace kerf {

struct TuneOptions {
  int evaluations = 60;  ///< timings of tuples, repeated ones included
  double seconds = 0;    ///< 0: no limit; the verdicts at the end are not counted
  std::uint64_t seed = 1;
  int rounds = 5;               ///< timed batches of a first timing
  int passes = 0;               ///< above 0: every allowed tuple, this many times, whatever `evaluations` says
  int jobs = 1;                 ///< compilers side by side, beside the one that times
  std::function<bool()> go_on;  ///< set: asked before every timing; false ends the tuning early
};

/// All that is known of one tuple. From short timings: never a verdict.
struct TuneTrial {
  int number = 0;  ///< of the latest timing of it, from 1
  int timings = 0;
  Bindings tunables;
  std::optional<Outcome> refused;  ///< set: it does not pass
  struct Timed {
    std::string shape;
    double weight = 1;
    TimeEstimate time;
    std::vector<double> us;  ///< the samples behind it
  };
  std::vector<Timed> shapes;  ///< per timed shape, all timings together; empty when it is refused
  TimeEstimate time;          ///< weighted geometric mean over the shapes
  double score_us = 0;        ///< what decides, as a time: see `ranking_log_us`
};

/// Calls come from the thread that tunes.
class TuneObserver {
 public:
  virtual ~TuneObserver() = default;
  virtual void on_trial(const TuneTrial& trial) = 0;  ///< after every timing; whoever keeps records keeps it
  virtual void on_note(const std::string& text) = 0;
};

struct TuneReport {
  std::vector<TuneTrial> table;      ///< one entry per tuple: the measured ones by time, then the refused ones
  Bindings defaults, best;           ///< the best is one of the table that passed every gate
  Evaluation verdict;                ///< of the best: the whole pipeline
  std::optional<Evaluation> before;  ///< of the defaults, when they are not the best; its times are not comparable
  std::optional<Speedup> gain;       ///< of the best over the defaults, timed in turn; none when they are the best
  std::optional<Bindings> rejected;  ///< was fastest in short timings, but not when it and the defaults ran in turn
  std::map<std::string, Bindings> best_by_shape;  ///< per timed shape; each passed every gate
  int timings = 0;
  int known_code = 0;               ///< tuples that were not timed because they are the same code as one that was
  std::vector<std::string> unused;  ///< tunables whose values made no difference to the compiled code wherever seen
  double seconds = 0;
  double tuples = 0;      ///< of the space, allowed or not
  bool complete = false;  ///< every allowed tuple was timed, or is the same code as one that was
};

/// Times tuples within the budget, then takes the winners through the whole pipeline. The best of them takes the
/// place of the defaults only if it is not slower when the two are timed in turn. An error when there is nothing
/// to tune, no tuple satisfies the requirements, or the environment fails; when no tuple passes, `verdict` says why.
/// Deterministic in the seed up to the noise of the timings.
Result<TuneReport> tune(Judge& judge, const Candidate& candidate, const TuneOptions& options, Clock& clock,
                        TuneObserver& observer);

/// What tuples are ranked by (lower is better), of a record as `to_record` makes it, while tuning and when a run is
/// resumed: the weighted mean over the shapes of the logarithm of the lower quartile, because disturbances only ever
/// slow down. Records of earlier versions have no quartile; their medians stand for it.
double ranking_log_us(const Measurement& record);

/// A trial in the form that run stores keep (stage "tune"): the identity of `like`, an evaluation of the same
/// candidate. Its notes say that it is not a verdict, and it has no speedup.
Evaluation to_record(const TuneTrial& trial, const Evaluation& like);

}  // namespace kerf
