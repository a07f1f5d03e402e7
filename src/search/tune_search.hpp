#pragma once
// What to time next in a space of tunables: start, improve, decide. Knows nothing of kernels, so it can be replayed on
// recorded times.

#include <functional>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "search/tune_space.hpp"

namespace kerf {

struct TuneSearchOptions {
  int evaluations = 60;  ///< timings, repeated ones included
  std::uint64_t seed = 1;
  int rounds = 5;  ///< timed batches of a first timing; the halving starts with four times as many and doubles them
};

/// What is known of a tuple after all timings of it so far.
struct TuneEstimate {
  double log_us = 0;  ///< logarithm of its time
  double error = 0;   ///< standard error of that
};

/// Borrowed for the call.
struct TuneSearchHooks {
  /// Times a tuple (again); none when it is refused.
  std::function<Result<std::optional<TuneEstimate>>(const TunePoint& point, int rounds)> time;
  std::function<bool()> go_on;  ///< false: time is up
  /// Set: whether a tuple that was not timed yet is the same code as one that was; it is then left out and not counted.
  std::function<Result<bool>(const TunePoint& point)> is_known_code;
  std::function<void(const std::vector<TunePoint>& points)> soon;  ///< likely next, for compiling ahead
};

struct TuneSearchResult {
  std::vector<std::pair<TunePoint, TuneEstimate>> ranking;  ///< what was measured, best first
  int timings = 0;
  int known_code = 0;     ///< tuples that were left out because they are the same code as one that was timed
  bool complete = false;  ///< every allowed tuple was timed or left out
};

/// 1. The defaults, then tuples far from each other. 2. The tuple with the largest expected gain under a model of those
/// seen, in turn among all and among the neighbours of the best, now and then where the model knows little. 3.
/// Successive halving: the best are timed again, the better half of them twice as long, until one is left.
Result<TuneSearchResult> tune_search(const TuneSpace& space, const TuneSearchOptions& options,
                                     const TuneSearchHooks& hooks);

/// Every allowed tuple, `passes` times, each pass in another random order: the whole landscape, for spaces that are
/// small enough. An error when there are more than a few thousand tuples.
Result<TuneSearchResult> tune_exhaustively(const TuneSpace& space, const TuneSearchOptions& options, int passes,
                                           const TuneSearchHooks& hooks);

}  // namespace kerf
