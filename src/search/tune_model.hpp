#pragma once
// A guess of the time of tuples that were not tried, from those that were.

#include <vector>

#include "search/tune_space.hpp"

namespace kerf {

/// A Gaussian process (Matern 5/2, one length scale per tunable, chosen by likelihood) over tuples of indices.
/// Deterministic.
class TuneModel {
 public:
  struct Seen {
    TunePoint point;
    double value = 0;  ///< logarithm of a time
    double error = 0;  ///< its standard error
  };
  struct Guess {
    double mean = 0, deviation = 0;
  };

  /// `sizes`: number of values per tunable. At least one observation.
  TuneModel(const std::vector<int>& sizes, const std::vector<Seen>& seen);

  Guess guess(const TunePoint& point) const;
  double lowest_mean() const { return lowest_; }  ///< among the observations

  /// How much lower than `best` the value is expected to be, where it is lower at all.
  static double expected_gain(const Guess& guess, double best);

 private:
  using Row = std::vector<double>;
  Row coordinates(const TunePoint& point) const;
  double covariance(const Row& a, const Row& b, const Row& scales) const;
  double fit(const Row& scales);  ///< logarithm of the likelihood

  std::vector<int> sizes_;
  std::vector<Row> points_;
  Row values_, noise_;  // standardised
  double centre_ = 0, spread_ = 1, lowest_ = 0;
  Row scales_;
  std::vector<Row> factor_;  // Cholesky factor of the covariance
  Row weights_;              // covariance^-1 * values
};

}  // namespace kerf
