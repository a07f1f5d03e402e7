#include "measure/timing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "measure/data_effect.hpp"

namespace kerf {
namespace {

constexpr double kSkipped = std::numeric_limits<double>::quiet_NaN();

// When the wished noise is out of reach (it would take kOutOfReach times the rounds made so far), a time known to
// kEnoughNoise is enough if no baseline lies within a factor of kClearly of the candidate.
constexpr double kEnoughNoise = 0.1;
constexpr double kOutOfReach = 3;
constexpr double kClearly = 1.1;

// After so many rounds on usual data the candidate runs on unusual data once, until it was shown all there is.
constexpr int kUsualRounds = 2;

template <class T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(i) - 1))]);
}

std::vector<double> present(const std::vector<double>& us) {
  std::vector<double> kept;
  for (const double x : us)
    if (!std::isnan(x)) kept.push_back(x);
  return kept;
}

/// State of one measurement; a round is one call of `run_round`.
class Rounds {
 public:
  Rounds(Bench& bench, int slots, const std::vector<TimedKernel>& kernels,
         const std::vector<const oracle::DataSet*>& data, const MeasureOptions& options, Rng& rng,
         const CheckSlot& check)
      : bench_(bench),
        slots_(slots),
        kernels_(kernels),
        data_(data),
        options_(options),
        rng_(rng),
        check_(check),
        batch_(kernels.size(), 1),
        spent_us_(kernels.size(), 0),
        estimate_us_(kernels.size(), 0),
        sets_(kernels.size()),
        unseen_{std::vector<Sets>(kernels.size()), std::vector<Sets>(kernels.size())} {
    for (const oracle::DataSet* set : data) pools_[set->unusual ? kUnusual : kUsual].push_back(set);
    if (pools_[kUsual].empty()) pools_[kUsual].swap(pools_[kUnusual]);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      result_.kernels.push_back({kernels[k].name, {}});
      estimate_us_[k] = kernels[k].estimate_us;
      handles_.push_back(kernels[k].handle);
    }
    own_slots(rng);
    resize_batches();
  }

  /// False when the measurement is over because a kernel failed.
  Result<bool> run_round(bool counted) {
    pool_ = kUsual;
    const std::vector<std::size_t> order = participants(counted);
    std::vector<double> sample(kernels_.size(), kSkipped);
    last_set_.assign(kernels_.size(), kSeveralDataSets);
    // Kernels never share a slot: with fewer slots than kernels some run after the others were checked.
    const std::size_t together = std::min(order.size(), static_cast<std::size_t>(slots_));
    for (std::size_t first = 0; first < order.size(); first += together) {
      const std::size_t last = std::min(order.size(), first + together);
      KERF_TRY(const bool fine, run_together({order.begin() + static_cast<std::ptrdiff_t>(first),
                                              order.begin() + static_cast<std::ptrdiff_t>(last)},
                                             sample));
      if (!fine) return false;
    }
    if (counted)
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        result_.kernels[k].us.push_back(sample[k]);
        sets_[k].push_back(last_set_[k]);
      }
    resize_batches();
    return true;
  }

  /// The candidate on data sets whose values are unusual: checked like all others, and timed apart. False as above.
  Result<bool> run_unusual() {
    if (unusual_calls_ >= pools_[kUnusual].size()) return true;  // all of them were shown
    pool_ = kUnusual;
    std::vector<double> sample(kernels_.size(), kSkipped);
    last_set_.assign(kernels_.size(), kSeveralDataSets);
    KERF_TRY(const bool fine, run_together({0}, sample));
    if (fine) result_.kernels[0].unusual_us.push_back(sample[0]);
    return fine;
  }

  /// `elapsed` since the first round began.
  bool precise_enough(Nanoseconds elapsed) const {
    const auto us = present(settled(0));
    const auto rounds = static_cast<double>(us.size());
    if (static_cast<int>(us.size()) < options_.min_rounds) return false;
    const TimeEstimate e = estimate(us);
    const double noise = (e.high - e.low) / 2 / e.median;
    if (noise <= options_.target_noise) return !options_.precise_baselines || baselines_are_precise();
    if (options_.target_noise < 0) return false;
    // The noise falls with the square root of the rounds. Where the wished one is out of reach, more rounds change
    // nothing once it is clear which kernel is faster, and little in any case.
    const double needed = rounds * (noise / options_.target_noise) * (noise / options_.target_noise);
    const double limit = static_cast<double>(Nanoseconds(options_.time_limit).count());
    const double affordable = rounds * limit / std::max(1.0, static_cast<double>(elapsed.count()));
    if (needed > affordable && static_cast<int>(us.size()) >= options_.settle_rounds && baselines_are_known())
      return true;
    // Who asks for the wished noise even where the answer is decided gets it, or the whole time.
    const bool content = options_.decided_noise > options_.target_noise;
    const double enough = content && needed > kOutOfReach * rounds ? kEnoughNoise : options_.decided_noise;
    return noise <= enough && is_decided(e);
  }

  TimingResult take() {
    for (std::size_t k = 0; k < kernels_.size(); ++k) result_.kernels[k].us = settled(k);
    return std::move(result_);
  }

 private:
  using Sets = std::vector<const oracle::DataSet*>;
  static constexpr std::size_t kUsual = 0, kUnusual = 1;

  std::vector<double> settled(std::size_t kernel) const {
    return without_data_effect(result_.kernels[kernel].us, sets_[kernel], pools_[kUsual].size());
  }

  bool baselines_are_known() const {
    for (std::size_t k = 1; k < kernels_.size(); ++k)
      if (!is_known(k, estimate(result_.kernels[0].us))) return false;
    return true;
  }

  bool baselines_are_precise() const {
    const TimeEstimate ours = estimate(settled(0));
    for (std::size_t k = 1; k < kernels_.size(); ++k) {
      const TimeEstimate theirs = estimate(settled(k));
      if (theirs.samples > 0 && theirs.median > kHopelesslySlower * ours.median) continue;
      if (!is_known(k, ours) || (theirs.high - theirs.low) / 2 > options_.target_noise * theirs.median) return false;
    }
    return true;
  }

  /// What was known of the baseline before stands: it is well slower than the candidate, and took as long once more.
  bool stands(std::size_t baseline) const {
    const auto& known = kernels_[baseline].known;
    if (!known || !(known->median > kWellSlower * estimate_us_[0]) || estimate_us_[0] <= 0) return false;
    const auto us = present(result_.kernels[baseline].us);
    return us.size() == 1 && agrees(*known, us.front());
  }

  bool is_known(std::size_t baseline, const TimeEstimate& ours) const {
    const TimeEstimate theirs = estimate(result_.kernels[baseline].us);
    return stands(baseline) || theirs.samples >= options_.min_baseline_rounds ||
           (theirs.samples > 0 && theirs.median > kHopelesslySlower * ours.median);
  }

  /// No baseline's time lies near the candidate's.
  bool is_decided(const TimeEstimate& ours) const {
    for (std::size_t k = 1; k < result_.kernels.size(); ++k) {
      if (!is_known(k, ours)) return false;
      const TimeEstimate theirs = estimate(settled(k));
      if (theirs.low <= kClearly * ours.high && ours.low <= kClearly * theirs.high) return false;
    }
    return result_.kernels.size() > 1;
  }

  Result<bool> run_together(const std::vector<std::size_t>& order, std::vector<double>& sample) {
    const auto plan = assign_slots(order);
    KERF_TRY_VOID(assign_data(plan));
    std::vector<BenchStep> steps = stage_all(plan);
    StepResults results;
    for (const std::size_t k : order) {
      const auto limit = options_.call_limit * static_cast<int>(plan[k].size());
      steps.emplace_back(RunStep{plan[k], limit});
      if (k == order.back())
        for (const std::size_t used : order)
          for (const int slot : plan[used])
            steps.emplace_back(CheckStep{slot, staged_[static_cast<std::size_t>(slot)]});
      KERF_TRY(auto outcome, bench_.follow(handles_[k], steps));
      if (const auto* fault = std::get_if<Fault>(&outcome)) {
        result_.fault = *fault;
        result_.faulty = k;
        return false;
      }
      results = std::get<StepResults>(std::move(outcome));
      take_time(k, results.runs.front(), plan[k], sample[k]);
      steps.clear();
    }
    std::size_t at = 0;
    for (const std::size_t k : order) {
      for (const int slot : plan[k]) {
        KERF_TRY(const bool accepted, check_(k, slot, *staged_[static_cast<std::size_t>(slot)], results.checks[at++]));
        if (!accepted) {
          result_.refused = kernels_[k].name;
          return false;
        }
      }
    }
    return true;
  }

  void take_time(std::size_t kernel, const Timing& timing, const std::vector<int>& slots, double& sample) {
    if (timing.device_us > 0)
      result_.clock_disagreement =
          std::max(result_.clock_disagreement, timing.device_us / std::max(timing.host_us, 1e-3));
    const double total = timing.device_us > 0 ? timing.device_us : timing.host_us;
    sample = total / static_cast<double>(slots.size());
    if (slots.size() == 1) last_set_[kernel] = set_number(*chosen_[static_cast<std::size_t>(slots[0])]);
    spent_us_[kernel] += timing.host_us;
    if (pool_ == kUsual)
      estimate_us_[kernel] = sample;
    else
      unusual_calls_ += slots.size();
  }

  int set_number(const oracle::DataSet& set) const {
    return static_cast<int>(std::ranges::find(data_, &set) - data_.begin());
  }

  /// Candidate always; a baseline while it has too few samples or has not used up its share of the time.
  std::vector<std::size_t> participants(bool counted) {
    std::vector<std::size_t> order{0};
    const double all = std::accumulate(spent_us_.begin(), spent_us_.end(), 0.0);
    for (std::size_t k = 1; k < kernels_.size(); ++k) {
      const auto samples = static_cast<int>(present(result_.kernels[k].us).size());
      // A very slow baseline is content with two samples, a hopelessly slow one with one.
      const bool affordable = spent_us_[k] < 1000.0 * static_cast<double>(options_.time_limit.count());
      const bool hopeless = estimate_us_[0] > 0 && estimate_us_[k] > kHopelesslySlower * estimate_us_[0];
      if ((hopeless && (samples > 0 || !counted)) || stands(k)) continue;  // it needs no warm-up either
      const int enough = hopeless ? 1 : affordable ? options_.min_baseline_rounds : 2;
      const bool needed = counted && samples < std::min(enough, options_.min_baseline_rounds);
      // All baselines together have the share, however many there are.
      const double share = options_.baseline_share / static_cast<double>(kernels_.size() - 1);
      if (needed || spent_us_[k] <= share * all) order.push_back(k);
    }
    shuffle(order, rng_);
    return order;
  }

  /// Every kernel runs on slots of its own throughout, so that its data need not move between processes.
  void own_slots(Rng& rng) {
    std::vector<int> all(static_cast<std::size_t>(slots_));
    std::iota(all.begin(), all.end(), 0);
    shuffle(all, rng);
    own_.resize(kernels_.size());
    for (std::size_t i = 0; i < std::max(all.size(), own_.size()); ++i)
      own_[i % own_.size()].push_back(all[i % all.size()]);
  }

  std::vector<std::vector<int>> assign_slots(const std::vector<std::size_t>& order) {
    std::vector<std::vector<int>> plan(kernels_.size());
    std::vector<int> taken;
    for (const std::size_t k : order) {
      std::vector<int> free = own_[k];
      shuffle(free, rng_);
      // Without flushing the slots of the round before come first, so that they are staged again: no kernel may find
      // the results of another one for data that it is shown later.
      if (!options_.flush)
        std::stable_partition(free.begin(), free.end(), [&](int slot) { return !left_.contains(slot); });
      const int calls = std::min(batch_[k], static_cast<int>(pools_[pool_].size()));
      for (int i = 0; i < calls && !free.empty(); ++i) {
        plan[k].push_back(free.back());
        free.pop_back();
      }
      // Only with fewer slots than kernels: others have taken its slot.
      const auto used = [&](int slot) { return std::ranges::find(taken, slot) != taken.end(); };
      for (int& slot : plan[k])
        for (int next = 0; used(slot) && next < slots_; ++next) slot = next;
      taken.insert(taken.end(), plan[k].begin(), plan[k].end());
    }
    return plan;
  }

  /// Gives every slot to be run a data set that its kernel has not seen yet; when too few are left, the kernel gets a
  /// fresh process (where it can be reloaded) and may see all of them again.
  Status assign_data(const std::vector<std::vector<int>>& plan) {
    chosen_.assign(static_cast<std::size_t>(slots_), nullptr);
    for (std::size_t k = 0; k < plan.size(); ++k) {
      if (plan[k].empty()) continue;
      Sets& unseen = unseen_[pool_][k];
      if (unseen.size() < plan[k].size()) {
        if (kernels_[k].reload) {
          KERF_TRY(handles_[k], kernels_[k].reload());
          unseen_[pool_ == kUsual ? kUnusual : kUsual][k].clear();  // to be filled again: the process is a new one
        }
        unseen = pools_[pool_];
        shuffle(unseen, rng_);
      }
      for (const int slot : plan[k]) {
        // Two kernels of a round work on different data, as far as there is enough.
        const auto other = std::find_if(unseen.rbegin(), unseen.rend(), [&](const oracle::DataSet* data) {
          return std::find(chosen_.begin(), chosen_.end(), data) == chosen_.end();
        });
        if (other != unseen.rend()) std::swap(*other, unseen.back());
        chosen_[static_cast<std::size_t>(slot)] = unseen.back();
        unseen.pop_back();
      }
    }
    return {};
  }

  /// The steps that stage the slots to be run, then the others. The first kernel's list begins with them.
  std::vector<BenchStep> stage_all(const std::vector<std::vector<int>>& plan) {
    std::vector<BenchStep> steps;
    std::vector<int> used;
    for (const auto& slots : plan) used.insert(used.end(), slots.begin(), slots.end());
    std::vector<int> rest;
    for (int s = 0; s < slots_; ++s)
      if (std::find(used.begin(), used.end(), s) == used.end()) rest.push_back(s);
    staged_.resize(static_cast<std::size_t>(slots_), nullptr);
    if (!options_.flush) std::erase_if(rest, [&](int slot) { return !left_.contains(slot); });
    left_ = {used.begin(), used.end()};
    for (std::size_t k = 0; k < plan.size(); ++k) bench_.expect(handles_[k], plan[k]);
    for (const auto* group : {&used, &rest}) {
      for (const int slot : *group) {
        // The rest only flushes the caches; no kernel runs on it. It gets data that is at hand: data sets that are not
        // in use may have to be made again.
        const auto any = static_cast<std::size_t>(rng_.integer(0, static_cast<std::int64_t>(used.size()) - 1));
        const auto at = static_cast<std::size_t>(slot);
        const oracle::DataSet* data =
            chosen_[at] != nullptr ? chosen_[at] : chosen_[static_cast<std::size_t>(used[any])];
        const Poison poison = rng_.chance(0.5) ? Poison::a : Poison::b;
        steps.emplace_back(StageStep{slot, data, poison});
        staged_[at] = data;
      }
    }
    return steps;
  }

  void resize_batches() {
    const auto wanted = static_cast<double>(options_.min_batch.count());
    // Half of the slots at most are used in a round; the others do the flushing.
    const int most =
        std::max(1, std::min(slots_ / 2 / static_cast<int>(kernels_.size()), static_cast<int>(pools_[kUsual].size())));
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      if (estimate_us_[k] > 0) batch_[k] = std::clamp(static_cast<int>(std::ceil(wanted / estimate_us_[k])), 1, most);
  }

  Bench& bench_;
  int slots_;
  const std::vector<TimedKernel>& kernels_;
  const std::vector<const oracle::DataSet*>& data_;
  const MeasureOptions& options_;
  Rng& rng_;
  const CheckSlot& check_;
  std::vector<int> batch_;                      // calls per batch
  std::vector<double> spent_us_, estimate_us_;  // per kernel
  std::vector<std::vector<int>> sets_;          // per kernel and sample: the data set's number
  std::vector<int> last_set_;                   // per kernel, of the round under way
  std::vector<KernelHandle> handles_;           // per kernel; changes with a reload
  std::vector<std::vector<int>> own_;           // per kernel: the slots it runs on
  std::array<std::vector<Sets>, 2> unseen_;     // by pool, per kernel: data its process has not been shown
  std::array<Sets, 2> pools_;                   // usual data, unusual data
  std::size_t pool_ = kUsual;                   // of the round under way
  std::size_t unusual_calls_ = 0;
  std::vector<const oracle::DataSet*> chosen_;  // per slot, for this round; null: not run
  std::vector<const oracle::DataSet*> staged_;  // per slot
  std::set<int> left_;                          // slots with results of the round before
  TimingResult result_;
};

}  // namespace

Result<TimingResult> time_kernels(Bench& bench, int slots, const std::vector<TimedKernel>& kernels,
                                  const std::vector<const oracle::DataSet*>& data, const MeasureOptions& options,
                                  Rng& rng, Clock& clock, const CheckSlot& check) {
  KERF_CHECK(!kernels.empty() && !data.empty() && slots > 0, "timing needs kernels, data and slots");
  Rounds rounds(bench, slots, kernels, data, options, rng, check);
  if (options.warm_up) {
    KERF_TRY(const bool warm, rounds.run_round(false));
    if (!warm) return rounds.take();
  }
  const Nanoseconds start = clock.now();
  for (int round = 0; round < options.max_rounds; ++round) {
    KERF_TRY(const bool running, rounds.run_round(true));
    if (!running) break;
    if (round % kUsualRounds == kUsualRounds - 1) {
      KERF_TRY(const bool fine, rounds.run_unusual());
      if (!fine) break;
    }
    if (round + 1 < options.min_rounds) continue;
    if (rounds.precise_enough(clock.now() - start) || clock.now() - start > options.time_limit) break;
  }
  return rounds.take();
}

std::string key_text(const MeasureOptions& options) {
  // A structured binding: a new member does not compile until it is written down here.
  const auto& [min_rounds, max_rounds, target_noise, time_limit, min_batch, call_limit, baseline_share,
               min_baseline_rounds, decided_noise, settle_rounds, precise_baselines, warm_up, flush] = options;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}", min_rounds, max_rounds, target_noise, time_limit.count(),
                     min_batch.count(), call_limit.count(), baseline_share, min_baseline_rounds, decided_noise,
                     settle_rounds, precise_baselines, warm_up, flush);
}

bool agrees(const TimeEstimate& known, double sample_us) {
  return sample_us >= (1 - kAgreement) * known.low && sample_us <= (1 + kAgreement) * known.high;
}

TimeEstimate estimate(const std::vector<double>& us) {
  const auto kept = present(us);
  if (kept.empty()) return {};
  const Interval interval = median_interval(kept);
  return {median(kept), interval.low, interval.high, static_cast<int>(kept.size())};
}

Speedup speedup_of(const KernelSamples& candidate, const KernelSamples& baseline, Rng rng) {
  std::vector<double> ours, theirs;
  for (std::size_t i = 0; i < candidate.us.size(); ++i) {
    if (std::isnan(candidate.us[i]) || std::isnan(baseline.us[i])) continue;
    ours.push_back(candidate.us[i]);
    theirs.push_back(baseline.us[i]);
  }
  Speedup speedup;
  speedup.vs = baseline.name;
  if (ours.empty()) return speedup;
  std::vector<double> ratios(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) ratios[i] = theirs[i] / ours[i];
  speedup.ratio = median(ratios);
  const Interval interval = ratio_interval(theirs, ours, rng);
  speedup.low = interval.low;
  speedup.high = interval.high;
  return speedup;
}

int slots_for(std::int64_t bytes_per_slot, const DeviceFacts& facts) {
  const std::int64_t bytes = std::max<std::int64_t>(bytes_per_slot, 1);
  const std::int64_t wanted = (3 * facts.cache_bytes + bytes - 1) / bytes;
  const std::int64_t affordable = facts.memory_bytes > 0 ? facts.memory_bytes / 6 / bytes : 8;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(std::max<std::int64_t>(wanted, 4), affordable), 1, 64));
}

}  // namespace kerf
