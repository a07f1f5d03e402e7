#include "oracle/honest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace kerf::oracle {
namespace {

/// The rms of few elements is uncertain by this over the root of their number.
constexpr double kSpread = 3;

/// Of `n` errors of a bell curve all are below one 10^(4/n)th of another by a chance of about 10^-4: with few elements
/// to go by, the worst of them says little.
double few(std::int64_t n) {
  return n > 0 ? std::max(1.0, std::pow(10.0, 4.0 / static_cast<double>(n)) / kHonestFactor) : 1;
}

std::int64_t from(const std::array<std::int64_t, kOctaves>& octaves, int octave) {
  std::int64_t sum = 0;
  for (int k = octave; k < kOctaves; ++k) sum += octaves[static_cast<std::size_t>(k)];
  return sum;
}

/// How much larger errors may be because few causes decide: up to 1 + kSpread.
double luck(const HonestErrors& honest) {
  const double causes = deciding(honest);
  return causes < kEnoughDeciding ? 1 + kSpread / std::sqrt(std::max(1.0, causes)) : 1;
}

double allowed_rms(const CompareStats& stats, const HonestErrors& honest) {
  const auto elements = static_cast<double>(std::min(honest.count, stats.squares_count));
  return kHonestFactor * honest.rms * std::max({few(honest.count), 1 + kSpread / std::sqrt(elements), luck(honest)});
}

/// A row's elements are wrong together: its worst one says as little as the row.
double allowed_worst(const HonestErrors& honest) {
  return kHonestFactor * honest.worst * std::max(few(honest.count), honest.together > 1 ? luck(honest) : 1);
}

double allowed_run(const HonestErrors& honest) {
  return kHonestFactor * honest.run * (honest.together > 1 ? luck(honest) : 1);
}

/// Errors from this octave on that a plain implementation has in so many elements.
double expected_count(const CompareStats& stats, const HonestErrors& honest, int octave) {
  return static_cast<double>(from(honest.octaves, octave)) * static_cast<double>(stats.squares_count) /
         static_cast<double>(honest.count);
}

/// Twice the plain implementation's, and what counts vary by; where few causes decide, each brings all of its elements.
double allowed_count(double expected, const HonestErrors& honest) {
  const double each = deciding(honest) < kEnoughDeciding ? static_cast<double>(honest.together) : 1;
  return 2 * expected + kSpread * std::sqrt(expected * each) + kSpread * each;
}

double share(double found, double allowed) {
  if (found <= 0) return 0;
  return allowed > 0 ? found / allowed : std::numeric_limits<double>::infinity();
}

}  // namespace

double rms(const CompareStats& stats) {
  return stats.squares_count == 0 ? 0 : std::sqrt(stats.sum_squares / static_cast<double>(stats.squares_count));
}

double run_rms(const CompareStats& stats) { return std::sqrt(stats.worst_run / static_cast<double>(kRun)); }

HonestErrors honest_errors(const CompareStats& stats) {
  const bool counted = stats.squares_count >= kCountedFrom;
  return {stats.squares_count, rms(stats), stats.largest, stats.octaves, counted, run_rms(stats)};
}

double deciding(const HonestErrors& honest) {
  if (honest.worst <= 0) return static_cast<double>(honest.count);
  double cause = static_cast<double>(honest.together) * honest.worst * honest.worst;
  if (honest.together > 1 && honest.run > 0)
    cause = std::min(cause, static_cast<double>(kRun) * honest.run * honest.run);
  return static_cast<double>(honest.count) * honest.rms * honest.rms / cause;
}

void merge(HonestErrors& into, const HonestErrors& more) {
  const auto squares = [](const HonestErrors& one) { return one.rms * one.rms * static_cast<double>(one.count); };
  const double sum = squares(into) + squares(more);
  into.count += more.count;
  into.rms = into.count == 0 ? 0 : std::sqrt(sum / static_cast<double>(into.count));
  into.worst = std::max(into.worst, more.worst);
  into.run = std::max(into.run, more.run);
  into.octaves = {};
  into.counted = false;
}

void widen_for_rows(HonestErrors& honest) {
  constexpr double kRms = 0.02, kWorst = 0.1;  // of the bound; vendors' libraries need 0.008 and 0.04
  honest.rms = std::max(honest.rms, kRms);
  honest.worst = std::max(honest.worst, kWorst);
  honest.run = std::max(honest.run, kWorst);
  honest.octaves = {};
  honest.counted = false;
}

void widen_to_resolution(HonestErrors& honest, const HonestErrors& ordinary) {
  constexpr double kShare = 0x1.0p-29;  // a rounding of doubles over one of floats
  if (honest.rms >= kShare * ordinary.rms) return;
  honest.rms = kShare * ordinary.rms;
  honest.worst = std::max(honest.worst, kShare * ordinary.worst);
  honest.run = std::max(honest.run, kShare * ordinary.run);
  honest.octaves = {};
  honest.counted = false;
}

Allowance allowance_of(const HonestErrors& honest) {
  Allowance allowance;
  allowance.most = std::max(kBoundFactor, kBeyondFactor * honest.worst);
  if (honest.rms > 0) allowance.unit = kHonestFactor * honest.rms;
  allowance.roundings = kFreeRoundings;
  return allowance;
}

LimitShares limit_shares(const CompareStats& stats, const HonestErrors& honest) {
  LimitShares shares;
  if (stats.squares_count == 0 || honest.count == 0) return shares;
  shares.rms = share(rms(stats), allowed_rms(stats, honest));
  shares.worst = share(stats.largest, allowed_worst(honest));
  if (honest.count >= kCountedFrom) shares.run = share(run_rms(stats), allowed_run(honest));
  for (int k = 0; honest.counted && k < kOctaves; ++k)
    shares.counts = std::max(shares.counts, share(static_cast<double>(from(stats.octaves, k)),
                                                  allowed_count(expected_count(stats, honest, k), honest)));
  return shares;
}

std::optional<std::string> less_accurate(const CompareStats& stats, const HonestErrors& honest) {
  const LimitShares shares = limit_shares(stats, honest);
  const auto text = [](double value) { return fmt::format("{:.3g}", value); };
  if (shares.rms > 1)
    return fmt::format("rms error {} of the error bound, a plain implementation reaches {} (allowed: {})",
                       text(rms(stats)), text(honest.rms), text(allowed_rms(stats, honest)));
  if (shares.worst > 1)
    return fmt::format("an error of {} of the error bound, the worst of a plain implementation is {} (allowed: {})",
                       text(stats.largest), text(honest.worst), text(allowed_worst(honest)));
  if (shares.run > 1)
    return fmt::format(
        "{} neighbouring elements have an rms error of {} of the error bound, the worst such run of a plain "
        "implementation has {} (allowed: {})",
        kRun, text(run_rms(stats)), text(honest.run), text(allowed_run(honest)));
  for (int k = 0; shares.counts > 1 && k < kOctaves; ++k) {
    const double expected = expected_count(stats, honest, k);
    const auto found = from(stats.octaves, k);
    if (static_cast<double>(found) <= allowed_count(expected, honest)) continue;
    return fmt::format(
        "{} of {} elements are off by {} of the error bound or more; a plain implementation has {:.0f} "
        "that are off by {} or more",
        found, stats.squares_count, text(std::ldexp(kHonestFactor * honest.rms, k)), expected,
        text(std::ldexp(honest.rms, k)));
  }
  return std::nullopt;
}

}  // namespace kerf::oracle
