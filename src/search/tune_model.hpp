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

  /// `sizes`: number of values per tunable. At least one observation. `scales`: length scales that were chosen for
  /// fewer observations, to save choosing them, which is most of the work; empty: they are chosen.
  TuneModel(const std::vector<int>& sizes, const std::vector<Seen>& seen, const std::vector<double>& scales = {});

  Guess guess(const TunePoint& point) const;
  double lowest_mean() const { return lowest_; }  ///< among the observations
  const std::vector<double>& scales() const { return scales_; }

  /// How much lower than `best` the value is expected to be, where it is lower at all.
  static double expected_gain(const Guess& guess, double best);

 private:
  using Row = std::vector<double>;
  void measure(const Row& scales);
  double covariance(const TunePoint& a, const TunePoint& b) const;
  double fit(const Row& scales);  ///< logarithm of the likelihood
  Row choose_scales();

  std::vector<int> sizes_;
  std::vector<TunePoint> points_;
  Row values_, noise_;  // standardised
  double centre_ = 0, spread_ = 1, lowest_ = 0;
  Row scales_;
  std::vector<Row> squares_,
      alone_;                // per tunable and difference of indices: squared distance, covariance of that alone
  std::vector<Row> factor_;  // Cholesky factor of the covariance
  Row weights_;              // covariance^-1 * values
};

}  // namespace kerf
