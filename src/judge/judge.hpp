#pragma once
// The heart: candidate -> build -> verify -> measure -> Evaluation.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "build/build.hpp"
#include "device/device_oracle.hpp"
#include "judge/judge_options.hpp"
#include "judge/observer.hpp"
#include "judge/paired_timing.hpp"
#include "judge/shape_context.hpp"
#include "judge/tunables.hpp"
#include "measure/combine.hpp"
#include "measure/peaks.hpp"
#include "model/candidate.hpp"
#include "model/counters.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "target/target.hpp"
#include "verify/admission.hpp"
#include "verify/repeats.hpp"

namespace kerf {

/// Borrowed for the life of a Judge.
struct JudgeTools {
  Target& target;
  Target* cpp = nullptr;  ///< the C++ target, needed for C++ references
  BuildCache& builds;
  Clock& clock;
  std::int64_t host_bytes = 0;  ///< memory that may be taken; 0: what the host has free when it is needed
  bool compile_ahead = false;   ///< of all shapes side by side, where compilers do not disturb the device
  bool admitted = false;        ///< another judge has admitted the task, and the answer depends on the task alone
};

/// What a quick timing of a candidate showed: never a verdict, hence not an Evaluation. It was checked on the smallest
/// shape only (and in every timed call), and timed briefly without baselines.
struct QuickTiming {
  struct Timed {
    std::string shape;
    double weight = 1;
    std::vector<double> us;  ///< microseconds per call, one per round
  };
  std::optional<Outcome> refused;  ///< set: why it would not pass
  std::vector<Timed> shapes;       ///< the timed ones; empty when it is refused
};

/// Judges candidates for one task on one target. Buffers, data, references and baselines are made once and shared by
/// all of them. `evaluate` is not thread-safe; `prefetch` may run beside it.
class Judge {
 public:
  /// What will be evaluated first, where it is known: it is compiled while the task is being admitted.
  struct First {
    Candidate candidate;
    Bindings tunables;
  };
  /// Admits the task; shapes are prepared when a candidate first reaches them.
  static Result<std::unique_ptr<Judge>> open(const Task& task, const JudgeTools& tools, const JudgeOptions& options,
                                             Observer& observer, std::optional<First> first = std::nullopt);

  /// Every outcome of the candidate is a value; an Error means that the environment failed.
  Result<Evaluation> evaluate(const Candidate& candidate, const Bindings& tunables, Observer& observer);

  /// A quick timing for those who compare many variants: the caller must `evaluate` whatever it reports to anyone. A
  /// candidate that passed before is only timed again. Nothing is cached but builds.
  Result<QuickTiming> time_quickly(const Candidate& candidate, const Bindings& tunables, int rounds,
                                   Observer& observer);

  /// Both passed before; timed in turn, so that what else the machine does meets them alike.
  Result<PairedOutcome> compare(const PairedKernel& ours, const PairedKernel& theirs);

  /// What the device's counters say of a few calls of a kernel that was measured, on the timed shape with the largest
  /// weight; these calls are not timed and judge nothing. None when the kernel fails; Unavailable where nothing can be
  /// counted.
  Result<std::optional<Counters>> count(const Candidate& candidate, const Bindings& tunables);

  /// Compiles for all shapes into the build cache, without touching the device; thread-safe. On devices that use the
  /// host's cores it waits while a timing is under way.
  void prefetch(const Candidate& candidate, const Bindings& tunables);

  /// The candidate compiled for every timed shape (from the build cache when it can be); none when one of them does not
  /// compile. Shapes are compiled side by side.
  struct Compiled {
    std::vector<Artifact> artifacts;  ///< one per timed shape
    std::vector<Bindings> constants;  ///< symbols and tunables, likewise
    std::size_t main = 0;             ///< index of the shape with the largest weight
  };
  Result<std::optional<Compiled>> compile(const Candidate& candidate, const Bindings& tunables);

  /// For the evaluations that follow; their verdicts do not depend on it, their intervals do.
  void set_measure(const MeasureOptions& measure) { options_.measure = measure; }

  /// Baseline times by shape and name that stand from now on: baselines with a time here that are slow (a call takes
  /// more than a tenth of the time limit) are not timed with every candidate again. Their ratio then carries the
  /// candidate's noise only, so candidates of one search stay comparable; verdicts that leave the search are made
  /// without it.
  using References = std::map<std::string, std::map<std::string, TimeEstimate>>;
  void set_references(References references) { references_ = std::move(references); }

  const Admission& admission() const { return admission_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<ShapeSet>& shapes() const { return shapes_; }  ///< in use, smallest first
  const Target& target() const { return tools_.target; }
  std::string toolchain() const;  ///< versions of compiler, driver and Kerf

 private:
  Judge(const Task& task, const JudgeTools& tools, const JudgeOptions& options);

  using Stop = std::optional<Outcome>;  ///< set: the candidate ends here

  /// One candidate on its way through the tiers.
  struct Trial {
    const Candidate& candidate;
    const Bindings& tunables;
    Observer& observer;
    std::vector<std::optional<KernelHandle>> handles;  ///< per shape, once it is loaded
    std::vector<double> estimate_us;                   ///< of one call, per shape, once it is verified
    Measurement measurement;
    std::string detail;  ///< of the tier under way, for the observer
    SeenProperties seen{};
    std::optional<Certification> certification{};
    bool timed_briefly = false;                 ///< on some shape, because others are far faster
    std::vector<QuickTiming::Timed> samples{};  ///< of timings that are not part of a measurement
  };
  /// How one timing of a shape is done.
  struct Pace {
    std::string label;   ///< names its random stream
    int max_rounds = 0;  ///< 0: as the options say, until the noise is low
    bool baselines = false;
    bool warm_up = false;
  };
  /// One tier: a name for the observer and the work, which says whether the candidate ends there.
  struct Tier {
    std::string name;
    std::function<Result<Stop>()> work;
  };

  // tiers.cpp: the lists, what runs them, and the tiers that verify.
  Trial make_trial(const Candidate& candidate, const Bindings& tunables, Observer& observer) const;
  std::vector<Tier> first_tiers(Trial& trial);
  std::vector<Tier> all_tiers(Trial& trial);
  std::vector<Tier> quick_tiers(Trial& trial, int rounds, bool known);
  /// Runs the tiers up to the first that ends the candidate, then unloads it. `times`, when given, receives one entry
  /// per tier.
  Result<Stop> run_tiers(Trial& trial, const std::vector<Tier>& tiers, std::vector<TierTime>* times);
  Stop check_parse(const Trial& trial) const;
  Result<Stop> check_build(const Trial& trial, std::size_t first, std::size_t last);
  Result<Stop> check_static(const Trial& trial);
  Result<Stop> check_shape(Trial& trial, std::size_t shape, Gate gate);
  // extra_tiers.cpp: what is looked at beyond right and fast.
  /// Determinism and batch invariance: refused where the task requires them, noted otherwise (smallest shape only).
  Result<Stop> check_properties(Trial& trial, std::size_t shape);
  /// Calls in the process that was timed, which has made more calls than any before: two on ordinary data, whose
  /// results show a lower precision whatever data the timed calls had (calls alternate between two stacks), and one on
  /// special values. `briefly`: that one only.
  Result<Stop> check_after_timing(Trial& trial, std::size_t shape, bool briefly);
  Result<Stop> check_races(Trial& trial);
  Result<Stop> check_soak(Trial& trial);
  /// What was seen as a Stop where `gate` is required; a failed call ends the candidate in any case.
  Result<Stop> settle(Trial& trial, std::size_t shape, Seen seen, Gate gate, bool required, std::optional<bool>& noted);
  Result<std::variant<KernelHandle, Outcome>> load(Trial& trial, std::size_t shape, Gate gate);
  void unload(Trial& trial);
  Result<Outcome> after_fault(Trial& trial, std::size_t shape, Refusal refusal);
  Result<std::optional<Refusal>> run_canary(ShapeContext& shape);
  std::chrono::milliseconds call_limit(const ShapeContext& shape) const;

  // timed_tiers.cpp
  Result<Stop> measure_shape(Trial& trial, std::size_t shape, const Pace& pace);
  Result<Stop> measure_shapes(Trial& trial, const Pace& pace);
  /// `reload_failed` is set when the candidate fails while it is timed and loaded again.
  Result<std::variant<TimedKernel, Outcome>> ready_to_time(Trial& trial, std::size_t shape, Stop& reload_failed);
  Status add_baselines(std::vector<TimedKernel>& kernels, std::size_t shape);
  /// What this judge found a baseline to take, from several rounds, where one more sample is enough to rely on it.
  std::optional<TimeEstimate> known_time(std::size_t shape, const std::string& baseline) const;
  const TimeEstimate* reference_for(std::size_t shape, const std::string& baseline, double candidate_us) const;
  Result<ShapeMeasurement> summarise(const TimingResult& timing, std::size_t shape, Rng rng) const;
  Stop judge_measured(const ShapeMeasurement& measured, const TimingResult& timing, const ShapeSet& shape) const;

  // paired_timing.cpp
  Result<std::variant<Speedup, PairedOutcome>> compare_on(Trial& ours, Trial& theirs, std::size_t shape);

  Result<CompileOutcome> build(const Candidate& candidate, const Bindings& tunables, std::size_t shape);
  Result<ShapeContext*> context(std::size_t shape, Observer& observer);
  ShapeContext::Inputs inputs_of(std::size_t shape) const;
  /// Starts compiling for every shape, side by side: what all evaluations need, and the first candidate.
  void compile_shapes_ahead();
  void compile_ahead(First first);
  /// Milliseconds that data sets of all shapes took to make again, and how many there were.
  DeviceOracle::Spent spent_on_data() const;
  /// Once: the build cache cannot be written, and why.
  void note_cache_trouble(Observer& observer);
  std::string evaluation_key(const Candidate& candidate, const Bindings& tunables) const;

  const Task& task_;
  JudgeTools tools_;
  JudgeOptions options_;
  std::unique_ptr<oracle::Reference> reference_;
  std::vector<ShapeSet> shapes_;                         // in use, smallest first
  std::vector<std::unique_ptr<ShapeContext>> contexts_;  // one per shape, null until prepared
  UsablePatterns patterns_;                              // filled by the smallest shape
  std::optional<Peaks> peaks_;
  Admission admission_;
  std::vector<std::string> notes_;
  std::optional<bool> rows_are_independent_;  // by the reference; none until it was asked
  bool cache_trouble_noted_ = false;
  std::vector<TierTime> prepared_;  // parts of the preparation since the evaluation under way began
  References references_;
  References timed_once_;                  // baselines that were hopelessly slower than a candidate
  References baseline_times_;              // that were taken in several rounds
  std::map<std::string, double> best_us_;  // by shape: the fastest candidate that was measured
  bool compiled_ahead_ = false;            // the first candidate
  std::set<std::string> passed_;           // candidates with tunables that a quick timing found right
  int quick_timings_ = 0;                  // so far: each draws other data; comparisons likewise
  int comparisons_ = 0;
  std::shared_mutex quiet_;          // timing holds it alone, compilers share it
  std::vector<std::jthread> ahead_;  // compile; last, so that they end before what they use
};

}  // namespace kerf
