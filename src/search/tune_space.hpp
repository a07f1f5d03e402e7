#pragma once
// The tuples of a candidate's tunables that are worth compiling.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "device/device.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"

namespace kerf {

/// One index per tunable, into its values in ascending order.
using TunePoint = std::vector<int>;

class TuneSpace {
 public:
  /// An error when `candidate` has no tunables, or when a requirement cannot be evaluated for a shape.
  static Result<TuneSpace> make(const Candidate& candidate, const std::vector<ShapeSet>& shapes,
                                const DeviceFacts& facts);

  /// From now on only these tuples are allowed, for instance those whose times were recorded.
  void restrict_to(std::set<TunePoint> points) { only_ = std::move(points); }

  const std::vector<Tunable>& tunables() const { return tunables_; }  ///< values ascending
  TunePoint defaults() const;
  Bindings bindings(const TunePoint& point) const;
  TunePoint point(const Bindings& bindings) const;  ///< a bug when a value is not in the space

  /// "" when the tuple may be tried, else why not: a requirement that some shape does not meet, or a launch that the
  /// device cannot make.
  std::string refusal(const TunePoint& point) const;
  bool allowed(const TunePoint& point) const { return refusal(point).empty(); }

  double tuples() const;  ///< allowed or not
  /// All allowed tuples, in a fixed order; none when more than `limit` tuples would have to be looked at.
  std::optional<std::vector<TunePoint>> enumerate(double limit) const;
  /// An allowed tuple, evenly drawn; none when many tries found none.
  std::optional<TunePoint> draw(Rng& rng) const;
  /// Allowed tuples that differ by one step in one tunable.
  std::vector<TunePoint> neighbours(const TunePoint& point) const;

 private:
  std::vector<Tunable> tunables_;
  std::vector<std::int64_t> defaults_;
  std::vector<Dim> requirements_;
  std::vector<std::string> requirement_texts_;
  std::vector<Launch> launches_;
  std::vector<ShapeSet> shapes_;
  std::optional<std::set<TunePoint>> only_;
  std::int64_t max_threads_ = 0, max_shared_ = 0;
};

}  // namespace kerf
