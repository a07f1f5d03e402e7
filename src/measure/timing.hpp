#pragma once
// Times kernels against each other on one bench: interleaved, on fresh data, every timed output checked.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "device/device.hpp"
#include "model/evaluation.hpp"

namespace kerf {

struct MeasureOptions {
  int min_rounds = 5;  ///< rounds before the noise is looked at
  int max_rounds = 60;
  double target_noise = 0.02;  ///< stop when the interval of the candidate's median is this narrow (relative, half
                               ///< width); negative: never
  std::chrono::milliseconds time_limit{2000};  ///< wall clock for all rounds of one shape; at least min_rounds run
  std::chrono::microseconds min_batch{1000};   ///< calls are batched until a batch lasts this long, within the slots
  std::chrono::milliseconds call_limit{900};   ///< a single call past this is a hang
  double baseline_share = 0.5;  ///< a baseline is left out of a round while it used more than its part of this share of
                                ///< the time (all baselines together)
  int min_baseline_rounds = 5;
  double decided_noise = 0.05;  ///< enough where every baseline is clearly slower or clearly faster than the candidate
  int settle_rounds = 6;        ///< enough where the time limit would not bring the wished noise either; the fewest
                                ///< that give a 95 % interval of the median
  bool precise_baselines =
      false;            ///< the intervals of baselines count like the candidate's, but of hopelessly slow ones
  bool warm_up = true;  ///< one uncounted round first
  bool flush = true;    ///< slots that are not run are staged too; needless where one slot is larger than the caches
};

/// A baseline that takes this many times as long as the candidate is timed once: nobody needs its ratio to a percent.
inline constexpr double kHopelesslySlower = 20;

/// A baseline that takes this many times as long as the candidate need not be paired with it, and a time of it that is
/// known agrees with a new one within this share.
inline constexpr double kWellSlower = 4;
inline constexpr double kAgreement = 0.02;
/// Whether a known time stands, given one new sample.
bool agrees(const TimeEstimate& known, double sample_us);

/// Every option with its value, one text: part of the keys under which measurements are kept.
std::string key_text(const MeasureOptions& options);

struct TimedKernel {
  std::string name;
  KernelHandle handle = 0;
  double estimate_us = 0;  ///< of one call, when it is known: the first batch is sized by it
  /// For kernels whose process could remember earlier calls: loads the code into a fresh process and gives its new
  /// handle. Called whenever all data sets have been shown, so that no process of the kernel sees the same data twice.
  std::function<Result<KernelHandle>()> reload;
  /// Of a baseline: what it took shortly before. One sample that agrees is enough where it is clearly slower than the
  /// candidate (kWellSlower).
  std::optional<TimeEstimate> known{};
};

/// Samples of one kernel, in microseconds per call, by round; NaN where it was left out of the round. Where data sets
/// take times of their own, the samples are those of their mean (data_effect.hpp).
struct KernelSamples {
  std::string name;
  std::vector<double> us;
  std::vector<double> unusual_us{};  ///< of the candidate: on data of unusual magnitudes, which count for nothing else
};

struct TimingResult {
  std::vector<KernelSamples> kernels;  ///< in the order given; the first is the candidate
  std::optional<Fault> fault;          ///< of a kernel; samples are void then
  std::size_t faulty = 0;              ///< which
  std::string refused;                 ///< not empty: a checked call was refused and `on_check` kept the reason
  double clock_disagreement = 0;       ///< largest host/device time ratio seen, 0 without a device clock
};

/// Judges what a slot looked like after a timed call; false refuses the candidate and ends the measurement.
using CheckSlot =
    std::function<Result<bool>(std::size_t kernel, int slot, const oracle::DataSet& data, const SlotReport& report)>;

/// Each round: (1) the slots to be used are staged with data sets drawn at random and fresh poison, then the remaining
/// slots are staged too, which pushes the first ones out of the caches; (2) the kernels run in random order, each as
/// one batch over its own slots; (3) every used slot is checked. What counts are times on usual data
/// (DataSet::unusual); in between the candidate runs on every unusual data set too, checked alike and timed apart.
Result<TimingResult> time_kernels(Bench& bench, int slots, const std::vector<TimedKernel>& kernels,
                                  const std::vector<const oracle::DataSet*>& data, const MeasureOptions& options,
                                  Rng& rng, Clock& clock, const CheckSlot& check);

TimeEstimate estimate(const std::vector<double>& us);

/// Ratio baseline/candidate over the rounds in which both ran.
Speedup speedup_of(const KernelSamples& candidate, const KernelSamples& baseline, Rng rng);

/// How many copies of the buffers are needed so that rotating over them exceeds the cache, within a memory budget.
int slots_for(std::int64_t bytes_per_slot, const DeviceFacts& facts);

}  // namespace kerf
