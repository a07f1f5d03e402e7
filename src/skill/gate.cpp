#include "skill/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "base/statistics.hpp"

namespace kerf::skill {
namespace {

constexpr double kPublishedRatio = 1.2;
constexpr int kLeastTasks = 3;

/// Samples of one task, by arm and repeat.
struct Taken {
  std::vector<Sample> arms[3];

  const std::vector<Sample>& of(Arm arm) const { return arms[static_cast<std::size_t>(arm)]; }
};

using Differences = std::vector<std::vector<double>>;

template <class Figure>
Differences differences(const std::vector<GateTask>& tasks, const std::vector<Taken>& taken, Arm against,
                        bool unrelated, Figure figure) {
  Differences lists;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].unrelated != unrelated) continue;
    auto& list = lists.emplace_back();
    const auto &with = taken[t].of(Arm::with), &other = taken[t].of(against);
    for (std::size_t i = 0; i < with.size(); ++i) list.push_back(figure(with[i]) - figure(other[i]));
  }
  return lists;
}

double log_of(const Sample& sample) { return sample.right ? sample.log_speedup : 0; }
double right_of(const Sample& sample) { return sample.right ? 1 : 0; }

double share_right(const std::vector<GateTask>& tasks, const std::vector<Taken>& taken, Arm arm) {
  double right = 0, all = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    for (const Sample& sample : taken[t].of(arm)) {
      if (tasks[t].unrelated) continue;
      right += right_of(sample);
      ++all;
    }
  return all > 0 ? right / all : 0;
}

/// z with P(|normal| < z) = confidence.
double normal_bound(double confidence) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < confidence ? low : high) = middle;
  }
  return low;
}

/// Percentile intervals of small samples are too narrow: by sqrt(n / (n - 1)), and by what Student's t is above the
/// normal distribution (its expansion to the first order).
double small_sample_factor(const Differences& lists, double confidence) {
  double pairs = 0, tasks = 0;
  for (const auto& list : lists) {
    pairs += static_cast<double>(list.size());
    tasks += list.empty() ? 0 : 1;
  }
  const double freedom = std::max(pairs - tasks, 1.0), z = normal_bound(confidence);
  return std::sqrt(std::max(pairs, 2.0) / freedom) * (1 + (z * z + 1) / (4 * freedom));
}

struct Figures {
  Effect effect, over_placebo, elsewhere, right, right_elsewhere;
};

Figures figures_of(const std::vector<GateTask>& tasks, const std::vector<Taken>& taken, double confidence,
                   const GateOptions& options, std::uint64_t seed) {
  const auto one = [&](Arm against, bool unrelated, auto figure) {
    return mean_effect(differences(tasks, taken, against, unrelated, figure), confidence, options.resamples, seed);
  };
  return {one(Arm::without, false, log_of), one(Arm::placebo, false, log_of), one(Arm::without, true, log_of),
          one(Arm::without, false, right_of), one(Arm::without, true, right_of)};
}

/// Why it cannot be admitted; "" while it can. The bounds are those of `clear`, because they are looked at many times.
std::string refused_for(const Figures& now, const GateOptions& options) {
  if (now.effect.high <= 0) return "no faster than without it";
  if (now.over_placebo.high <= 0) return "no faster than a placebo";
  if (now.right.high < -options.allowed_fall)
    return fmt::format("fewer right kernels: {:+.0f} points", 100 * now.right.mean);
  if (now.elsewhere.high < -options.allowed_harm)
    return fmt::format("harm outside of its scope: {:+.1f} %", 100 * (std::exp(now.elsewhere.mean) - 1));
  if (now.right_elsewhere.high < -options.allowed_fall)
    return fmt::format("fewer right kernels outside of its scope: {:+.0f} points", 100 * now.right_elsewhere.mean);
  return "";
}

std::string not_admitted_for(const Figures& now) {
  if (!(now.effect.low > 0)) return "not shown to be faster than without it";
  if (!(now.over_placebo.low > 0)) return "not shown to be faster than a placebo";
  return "";
}

Status take_round(const std::vector<GateTask>& tasks, int repeat, std::uint64_t seed, const TakeSample& take,
                  std::vector<Taken>& taken) {
  struct Turn {
    std::size_t task;
    Arm arm;
  };
  std::vector<Turn> turns;
  Rng rng = Rng(seed).fork(fmt::format("round {}", repeat));
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    std::vector<Arm> arms(std::begin(kArms), std::end(kArms));  // side by side in time, so that drift is shared
    for (std::size_t i = arms.size(); i-- > 1;)
      std::swap(arms[i], arms[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(i)))]);
    for (const Arm arm : arms) turns.push_back({t, arm});
  }
  for (const Turn& turn : turns) {
    const std::uint64_t own = Rng(seed).fork(fmt::format("sample {} {}", turn.task, repeat)).bits();
    KERF_TRY(const Sample sample, take(tasks[turn.task], turn.arm, repeat, own));
    taken[turn.task].arms[static_cast<std::size_t>(turn.arm)].push_back(sample);
  }
  return {};
}

Evidence evidence_of(const std::vector<GateTask>& tasks, const std::vector<Taken>& taken, const Figures& now) {
  Evidence one;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].unrelated)
      one.unrelated = tasks[t].name;
    else
      one.tasks.push_back(tasks[t].name);
    if (!tasks[t].unrelated) one.samples += static_cast<int>(taken[t].of(Arm::with).size());
  }
  one.effect = now.effect.mean, one.low = now.effect.low, one.high = now.effect.high;
  one.over_placebo = now.over_placebo.mean, one.placebo_low = now.over_placebo.low,
  one.placebo_high = now.over_placebo.high;
  one.elsewhere = now.elsewhere.mean, one.elsewhere_low = now.elsewhere.low, one.elsewhere_high = now.elsewhere.high;
  one.right_with = share_right(tasks, taken, Arm::with);
  one.right_without = share_right(tasks, taken, Arm::without);
  return one;
}

}  // namespace

std::string_view arm_name(Arm arm) { return arm == Arm::without ? "without" : arm == Arm::with ? "with" : "placebo"; }

Effect mean_effect(const Differences& lists, double confidence, int resamples, std::uint64_t seed) {
  const auto mean_of = [&](auto pick) {
    double sum = 0;
    int counted = 0;
    for (const auto& list : lists) {
      if (list.empty()) continue;
      double total = 0;
      for (std::size_t i = 0; i < list.size(); ++i) total += pick(list, i);
      sum += total / static_cast<double>(list.size());
      ++counted;
    }
    return counted > 0 ? sum / counted : 0.0;
  };
  Effect effect;
  effect.mean = mean_of([](const auto& list, std::size_t i) { return list[i]; });
  Rng rng = Rng(seed).fork("bootstrap");
  std::vector<double> means;
  for (int i = 0; i < resamples; ++i)
    means.push_back(mean_of([&](const auto& list, std::size_t) {
      return list[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(list.size()) - 1))];
    }));
  if (means.empty()) return effect;
  const double tail = (1 - confidence) / 2, wider = small_sample_factor(lists, confidence);
  effect.low = effect.mean + wider * (quantile(means, tail) - effect.mean);
  effect.high = effect.mean + wider * (quantile(means, 1 - tail) - effect.mean);
  return effect;
}

Result<Evidence> run_gate(const std::vector<GateTask>& tasks, const GateOptions& options, std::uint64_t seed,
                          const TakeSample& take) {
  const auto outside = std::count_if(tasks.begin(), tasks.end(), [](const GateTask& one) { return one.unrelated; });
  if (static_cast<std::ptrdiff_t>(tasks.size()) - outside < kLeastTasks || outside < 1)
    return fail(Errc::invalid_input,
                fmt::format("a trial needs at least {} tasks of the skill's scope and one outside of it; there are {} "
                            "and {}",
                            kLeastTasks, static_cast<std::ptrdiff_t>(tasks.size()) - outside, outside));
  if (options.first < 1 || options.most < options.first)
    return fail(Errc::invalid_input, "a trial needs at least one sample before its first look, and no fewer in all");
  std::vector<Taken> taken(tasks.size());
  for (int repeat = 0; repeat < options.most; ++repeat) {
    KERF_TRY_VOID(take_round(tasks, repeat, seed, take, taken));
    const int done = repeat + 1;
    const bool last = done == options.most;
    if (!last && (done < options.first || (done - options.first) % 2 != 0)) continue;
    const Figures now = figures_of(tasks, taken, options.confidence, options, seed);
    std::string refused = refused_for(figures_of(tasks, taken, options.clear, options, seed), options);
    const bool clear = !refused.empty();
    if (last && refused.empty()) refused = not_admitted_for(now);
    if (!last && refused.empty()) continue;
    Evidence evidence = evidence_of(tasks, taken, now);
    evidence.admitted = refused.empty();
    evidence.clear = clear;
    evidence.reason = refused.empty() ? "faster than without it and than a placebo" : refused;
    return evidence;
  }
  return fail(Errc::invalid_input, "a trial without samples");
}

bool one_sample_gate(const Sample& with, const Sample& without) {
  const double least = std::log(kPublishedRatio);
  return with.right && with.log_speedup >= least && with.log_speedup - log_of(without) >= least;
}

}  // namespace kerf::skill
