#pragma once
// What a plain implementation of the task's accuracy class loses on the same data, and what a candidate may lose
// therefore. All errors are in units of the element's bound; docs/verification.md derives the constants.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "oracle/compare.hpp"

namespace kerf::oracle {

/// Of one output.
struct HonestErrors {
  std::int64_t count = 0;  ///< elements, over all data sets that were looked at
  double rms = 0, worst = 0;
  std::array<std::int64_t, kOctaves> octaves{};  ///< errors by size in units of `rms`, as in CompareStats
  bool counted = false;                          ///< `octaves` is known
  double run = 0;                                ///< rms of the worst run of kRun elements
  std::int64_t together = 1;  ///< so many neighbours may owe their errors to one cause: those of a row, up to kRun
};

/// A candidate may lose this many times what the plain implementation does: in its rms, at every size of error that
/// has a count, in its worst run of elements, and at its worst element.
inline constexpr double kHonestFactor = 8;
/// Beyond the analytic bound it may lose this many times what the plain implementation loses there.
inline constexpr double kBeyondFactor = 4;
/// Errors of so many roundings of the output's own type are never held against a kernel.
inline constexpr double kFreeRoundings = 4;

/// With fewer elements than this, numbers of large errors and the worst run say nothing and are not compared.
inline constexpr std::int64_t kCountedFrom = 4096;

/// Errors of a plain implementation: `stats` were taken with Allowance{.unit = rms(stats)} and no free roundings (with
/// another unit when there are fewer than `kCountedFrom` elements).
HonestErrors honest_errors(const CompareStats& stats);

/// How many causes of the worst one's size would make up all errors: elements, or rows where the elements of a row have
/// one in common. Where they are few, it was up to luck what the plain implementation lost: an ill-conditioned row that
/// happened to come out right.
double deciding(const HonestErrors& honest);
/// With fewer of them all that is known about errors is as uncertain as the rms of so few elements, and further data is
/// drawn.
inline constexpr double kEnoughDeciding = 8;

/// Several data sets of one kind as one; sizes are not counted any more.
void merge(HonestErrors& into, const HonestErrors& more);

/// For data of rows that have a size each, some of them constant, and for constant inputs: one rounding of a row's mean
/// moves the whole row, so that few independent errors decide, and a plain implementation that is lucky in them says
/// nothing. Up to a share of the bound is then honest.
void widen_for_rows(HonestErrors& honest);

/// What is exact in a plain implementation is known no better than the double-precision reference computes it: a small
/// share of what the plain implementation loses on `ordinary` data is honest everywhere.
void widen_to_resolution(HonestErrors& honest, const HonestErrors& ordinary);

/// What `compare` is told when a candidate is compared: Allowance::unit is `kHonestFactor` times the honest rms, so
/// that octaves of the candidate and of the plain implementation correspond.
Allowance allowance_of(const HonestErrors& honest);

/// Root mean square of |error| / bound; the second of the worst run of elements.
double rms(const CompareStats& stats);
double run_rms(const CompareStats& stats);

/// What a candidate with these errors uses of each limit it is held to: beyond 1 it is refused.
struct LimitShares {
  double rms = 0, worst = 0;
  double counts = 0;  ///< numbers of large errors, of the size where they are nearest to the limit
  double run = 0;     ///< rms of the worst run of elements
};
LimitShares limit_shares(const CompareStats& stats, const HonestErrors& honest);

/// Why a candidate with these errors (compared with `allowance_of(honest)`) is less accurate than an honest one, in
/// words; nothing when it is not.
std::optional<std::string> less_accurate(const CompareStats& stats, const HonestErrors& honest);

}  // namespace kerf::oracle
