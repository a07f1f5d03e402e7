#include "search/tune_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>

namespace kerf {
namespace {

/// A tuple this many times slower than the best one tells nothing more by being slower still.
constexpr double kSlowEnough = 3;
constexpr double kUsualScale = 0.6;
constexpr double kScales[] = {0.2, 0.35, 0.6, 1.0, 1.8, 4.0};

/// Tunables mostly act one by one (their effects on the logarithm add up); the rest is how they act together.
constexpr double kAdditive = 0.6;

double matern(double squares) {
  const double r = std::sqrt(5 * squares);
  return (1 + r + r * r / 3) * std::exp(-r);
}

double solve_lower(const std::vector<std::vector<double>>& factor, std::vector<double>& x) {
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) x[i] -= factor[i][j] * x[j];
    x[i] /= factor[i][i];
    squares += x[i] * x[i];
  }
  return squares;
}

}  // namespace

TuneModel::TuneModel(const std::vector<int>& sizes, const std::vector<Seen>& seen, const std::vector<double>& scales)
    : sizes_(sizes) {
  double best = seen.front().value;
  for (const Seen& s : seen) best = std::min(best, s.value);
  for (const Seen& s : seen) {
    points_.push_back(s.point);
    values_.push_back(std::min(s.value, best + std::log(kSlowEnough)));
  }
  const auto n = static_cast<double>(values_.size());
  centre_ = std::accumulate(values_.begin(), values_.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values_) squares += (v - centre_) * (v - centre_);
  spread_ = std::max(std::sqrt(squares / n), 0.01);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = (values_[i] - centre_) / spread_;
    noise_.push_back(std::max(std::pow(seen[i].error / spread_, 2), 1e-4));
  }
  fit(scales.empty() ? choose_scales() : scales);
  lowest_ = guess(seen.front().point).mean;
  for (const Seen& s : seen) lowest_ = std::min(lowest_, guess(s.point).mean);
}

/// Coordinate ascent on the likelihood, from the middle of the range.
TuneModel::Row TuneModel::choose_scales() {
  Row chosen(sizes_.size(), kScales[3]);
  double likelihood = fit(chosen);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t d = 0; d < chosen.size(); ++d) {
      for (const double scale : kScales) {
        Row tried = chosen;
        tried[d] = scale;
        const double found = tried == chosen ? likelihood : fit(tried);
        if (found > likelihood + 1e-9) {
          likelihood = found;
          chosen = tried;
        }
      }
    }
  }
  return chosen;
}

/// Every tunable's range counts the same, whatever the number of its values.
void TuneModel::measure(const Row& scales) {
  squares_.assign(scales.size(), {});
  alone_.assign(scales.size(), {});
  for (std::size_t d = 0; d < scales.size(); ++d) {
    for (int apart = 0; apart < sizes_[d]; ++apart) {
      squares_[d].push_back(sizes_[d] > 1 ? std::pow(apart / ((sizes_[d] - 1) * scales[d]), 2) : 0.0);
      alone_[d].push_back(matern(squares_[d].back()));
    }
  }
}

double TuneModel::covariance(const TunePoint& a, const TunePoint& b) const {
  double squares = 0, sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const auto apart = static_cast<std::size_t>(std::abs(a[d] - b[d]));
    squares += squares_[d][apart];
    sum += alone_[d][apart];
  }
  return kAdditive * sum / static_cast<double>(a.size()) + (1 - kAdditive) * matern(squares);
}

double TuneModel::fit(const Row& scales) {
  const std::size_t n = points_.size();
  scales_ = scales;
  measure(scales);
  factor_.assign(n, Row(n, 0.0));
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance(points_[i], points_[j]) + (i == j ? noise_[i] : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor_[i][k] * factor_[j][k];
      factor_[i][j] = i == j ? std::sqrt(std::max(sum, 1e-10)) : sum / factor_[j][j];
    }
    log_determinant += 2 * std::log(factor_[i][i]);
  }
  weights_ = values_;
  const double squares = solve_lower(factor_, weights_);
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) weights_[i] -= factor_[j][i] * weights_[j];
    weights_[i] /= factor_[i][i];
  }
  // A few observations fit almost any scale: those in the middle are likelier beforehand.
  double prior = 0;
  for (const double scale : scales) prior += 3 * std::pow(std::log(scale / kUsualScale), 2);
  return -0.5 * (squares + log_determinant + prior);
}

TuneModel::Guess TuneModel::guess(const TunePoint& point) const {
  Row reach;
  double mean = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    reach.push_back(covariance(point, points_[i]));
    mean += reach.back() * weights_[i];
  }
  const double explained = solve_lower(factor_, reach);
  return {centre_ + spread_ * mean, spread_ * std::sqrt(std::max(1 - explained, 1e-8))};
}

double TuneModel::expected_gain(const Guess& guess, double best) {
  const double z = (best - guess.mean) / guess.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return (best - guess.mean) * below + guess.deviation * density;
}

}  // namespace kerf
