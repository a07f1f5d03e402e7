#pragma once
// The outcome of judging a candidate. Field names of the JSON form are stable (docs/formats.md).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "model/gate.hpp"

namespace kerf {

inline constexpr int kEvaluationSchema = 1;

/// A time in microseconds: median of `samples` with its 95 % interval.
struct TimeEstimate {
  double median = 0, low = 0, high = 0;
  int samples = 0;
  double lower_quartile = 0;  ///< kept where kernels are ranked by it (tuning); 0 elsewhere
};

struct Speedup {
  std::string vs;  ///< the baseline's name
  double ratio = 0, low = 0, high = 0;
};

struct SpeedOfLight {
  double floor_us = 0;
  double fraction = 0;  ///< floor / time
  std::string bound;    ///< "memory" or "compute"
};

/// Timings of one shape set. The paired ratio is the estimate of how two kernels compare; medians of different rounds
/// are not divided by each other. Who shows a baseline's time beside the candidate's and the ratio shows `before_us`.
struct ShapeMeasurement {
  std::string shape;
  double weight = 1;
  TimeEstimate time;
  std::map<std::string, TimeEstimate> baselines;  ///< over the rounds in which each of them ran
  std::map<std::string, Speedup> speedups;        ///< per baseline, from the rounds in which both ran
  std::optional<SpeedOfLight> speed_of_light;     ///< absent without calibration
  std::optional<TimeEstimate> unusual{};          ///< on data of unusual magnitudes; `time` is on usual data
};

/// Inside a search: this kernel and an earlier one, timed in turn. Two speedups over a baseline that were measured at
/// different times differ by what else the machine did; this does not.
struct PairedComparison {
  std::int64_t step = 0;                ///< the earlier kernel
  double its_speedup = 0;               ///< what the search took it for
  double ratio = 0, low = 0, high = 0;  ///< how many times as fast as it, with the 95 % interval
};

struct Measurement {
  std::vector<ShapeMeasurement> shapes;          ///< the timed ones
  Speedup speedup;                               ///< combined over shapes, against the strongest baseline
  std::optional<PairedComparison> comparison{};  ///< searches only, for kernels that came near the best
};

/// Where and how an output is wrong.
struct WrongEvidence {
  std::string output, shape, distribution;
  std::int64_t wrong = 0, total = 0;
  std::vector<std::int64_t> worst_index;
  double expected = 0, actual = 0, tolerance = 0;
  std::vector<std::int64_t> box_low, box_high;  ///< bounding box of the wrong elements, both ends included
};

struct BuildFailed {
  std::string shape, log;
};
struct WrongResult {
  Gate gate = Gate::values;
  std::string message;
  std::optional<WrongEvidence> evidence;
};
struct Crashed {
  Gate gate = Gate::small_shape;  ///< what was under way
  std::string message;
};
struct TimedOut {
  Gate gate = Gate::small_shape;  ///< what was under way
  std::string message;
};
struct Rejected {
  Gate gate = Gate::parse;
  std::string message;
};

using Outcome = std::variant<Measurement, BuildFailed, WrongResult, Crashed, TimedOut, Rejected>;

/// "measured", "build_failed", "wrong_result", "crashed", "timed_out", "rejected".
std::string outcome_name(const Outcome& outcome);
/// The gate that refused the candidate; none for a measured one.
std::optional<Gate> failed_gate(const Outcome& outcome);
/// Its stored name; "" for a measured one.
std::string outcome_gate(const Outcome& outcome);
/// What was seen, in one or a few lines; "" for a measured one.
std::string outcome_message(const Outcome& outcome);

/// Milliseconds spent per tier, in the order they ran.
struct TierTime {
  std::string tier;
  double ms = 0;
};

/// What was seen of a kernel beyond its results; nothing where it was not tested.
struct SeenProperties {
  std::optional<bool> deterministic;    ///< the same bits in every call, with any number of threads
  std::optional<bool> batch_invariant;  ///< a row's bits do not depend on the other rows
};

/// A soak that a finalist passed: so many further calls on data, addresses and thread counts drawn at random.
struct Certification {
  std::int64_t calls = 0;  ///< checked, none of them wrong
  double seconds = 0;
};

struct Evaluation {
  std::string task, task_id, target, device;
  std::string candidate, candidate_id;
  std::string toolchain;  ///< versions of compiler, driver and Kerf; part of the cache key
  Bindings tunables;
  std::uint64_t seed = 0;  ///< of all data; --seed replays it
  Outcome outcome;
  SeenProperties seen{};
  std::optional<Certification> certification{};  ///< finalists only
  std::vector<int> cell;        ///< level per behaviour dimension (docs/descriptors.md); empty outside of searches
  std::vector<TierTime> tiers;  ///< without what was prepared on the way
  std::vector<TierTime> preparation;  ///< parts of what this candidate was the first to need: data, oracles, baselines
  std::vector<std::string> notes;     ///< e.g. a distribution that was left out, and why
  bool from_cache = false;
};

/// The timed shape set that stands for the whole measurement where only one fits: the one with the largest weight, the
/// first among equals. Null when nothing was timed.
const ShapeMeasurement* main_shape(const Measurement& measurement);

/// The baseline's time that belongs beside the candidate's median and the paired ratio: their product, so that the
/// three figures of a row agree. None when the baseline was not timed with the candidate.
std::optional<double> before_us(const ShapeMeasurement& shape, const std::string& baseline);

/// True when the kernel is faster than the strongest baseline beyond the noise. A kernel that is not is no success,
/// whatever the search thinks of it.
bool beats_baseline(const Measurement& measurement);

/// What kernels of one search are compared by: the comparison where there was one, else the speedup as it was measured.
Speedup compared_speedup(const Measurement& measurement);

/// What was seen beyond right and fast, for people: "deterministic: yes, batch invariant: not tested, certified: 3120
/// calls, 0 wrong"; "not certified" without a soak.
std::string seen_words(const Evaluation& evaluation);

/// The stable JSON form. Text that is not UTF-8 is repaired; numbers that are not finite become null.
std::string to_json(const Evaluation& evaluation, int indent = -1);
/// Reads back what `to_json` wrote (null numbers as NaN); an error for other schemas and for anything malformed.
Result<Evaluation> evaluation_from_json(std::string_view text);

}  // namespace kerf
