#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "base/result.hpp"

namespace kerf {

double quantile(std::vector<double> sample, double q) {
  KERF_CHECK(!sample.empty(), "quantile of an empty sample");
  std::sort(sample.begin(), sample.end());
  const double position = q * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (position - static_cast<double>(below)) * (sample[above] - sample[below]);
}

double median(std::vector<double> sample) { return quantile(std::move(sample), 0.5); }

double geometric_mean(std::span<const double> positive) {
  KERF_CHECK(!positive.empty(), "geometric mean of an empty sample");
  double sum = 0;
  for (const double x : positive) sum += std::log(x);
  return std::exp(sum / static_cast<double>(positive.size()));
}

Interval median_interval(std::vector<double> sample, double confidence) {
  KERF_CHECK(!sample.empty(), "interval of an empty sample");
  std::sort(sample.begin(), sample.end());
  const auto n = sample.size();
  // Binomial(n, 1/2) tail: the largest k with P(X < k) <= alpha/2 gives [x_(k), x_(n-1-k+...)].
  const double alpha = 1.0 - confidence;
  double log_term = -static_cast<double>(n) * std::log(2.0);  // log C(n,0)/2^n
  double tail = 0;
  std::size_t k = 0;
  while (k < n / 2) {
    tail += std::exp(log_term);
    if (tail > alpha / 2) break;
    log_term += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
    ++k;
  }
  const std::size_t low = k == 0 ? 0 : k - 1;
  return {sample[low], sample[n - 1 - low]};
}

Interval ratio_interval(std::span<const double> a, std::span<const double> b, Rng rng, double confidence,
                        int resamples) {
  KERF_CHECK(!a.empty() && a.size() == b.size(), "ratio interval needs pairs");
  std::vector<double> ratios(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) ratios[i] = a[i] / b[i];
  std::vector<double> medians(static_cast<std::size_t>(resamples));
  std::vector<double> draw(ratios.size());
  for (auto& m : medians) {
    for (auto& d : draw)
      d = ratios[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(ratios.size()) - 1))];
    m = median(draw);
  }
  const double alpha = 1.0 - confidence;
  return {quantile(medians, alpha / 2), quantile(medians, 1 - alpha / 2)};
}

}  // namespace kerf
