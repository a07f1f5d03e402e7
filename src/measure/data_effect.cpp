#include "measure/data_effect.hpp"

#include <cmath>
#include <map>

#include "base/statistics.hpp"

namespace kerf {
namespace {

/// Half width of the median's interval, relative to it.
double noise_of(const std::vector<double>& us) {
  const Interval interval = median_interval(us);
  return (interval.high - interval.low) / 2 / median(us);
}

}  // namespace

std::vector<double> without_data_effect(const std::vector<double>& us, const std::vector<int>& data, std::size_t sets) {
  std::vector<double> before;
  std::map<int, std::vector<double>> logs;  // by data set
  for (std::size_t i = 0; i < us.size(); ++i) {
    if (std::isnan(us[i])) continue;
    if (data[i] == kSeveralDataSets || !(us[i] > 0)) return us;
    before.push_back(us[i]);
    logs[data[i]].push_back(std::log(us[i]));
  }
  if (sets < 2 || logs.size() < sets || before.size() < 2 * logs.size()) return us;
  std::map<int, double> level;
  double mean = 0;
  for (const auto& [set, values] : logs) {
    level[set] = median(values);
    mean += level[set] / static_cast<double>(logs.size());
  }
  const auto n = static_cast<double>(before.size());
  const double widened = std::sqrt(n / (n - static_cast<double>(logs.size())));
  std::vector<double> moved = us, after;
  for (std::size_t i = 0; i < us.size(); ++i) {
    if (std::isnan(us[i])) continue;
    moved[i] = std::exp(mean + widened * (std::log(us[i]) - level[data[i]]));
    after.push_back(moved[i]);
  }
  return 2 * noise_of(after) <= noise_of(before) ? moved : us;
}

}  // namespace kerf
