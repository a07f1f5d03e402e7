#include "search/tune_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "search/tune_model.hpp"

namespace kerf {
namespace {

constexpr double kEnumerable = 100'000;  // tuples that are listed; larger spaces are sampled
constexpr std::size_t kFew = 6;          // random tuples of which the start takes the farthest
constexpr std::size_t kPool = 2000;      // tuples that the model is asked about
constexpr std::size_t kAhead = 3;        // tuples announced for compiling
constexpr double kNewScales = 1.1;  // the model's length scales are chosen anew when it has seen this many times more

/// Gains are counted against a bar this far above the best (a logarithm of times). The lowest of many noisy timings
/// flatters, and few timings are left: better to go where the model expects the best than where it knows the least.
/// Going there alone ends on a hill that is not the highest, so that one choice in four counts against the best itself.
constexpr double kBar = 0.1;

/// Squared distance, every tunable's range counting the same.
double distance(const TunePoint& a, const TunePoint& b, const std::vector<int>& sizes) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (sizes[d] > 1) sum += std::pow(static_cast<double>(a[d] - b[d]) / (sizes[d] - 1), 2);
  return sum;
}

class Search {
 public:
  Search(const TuneSpace& space, const TuneSearchOptions& options, const TuneSearchHooks& hooks)
      : space_(space), options_(options), hooks_(hooks), rng_(Rng(options.seed).fork("tune")) {
    for (const Tunable& tunable : space.tunables()) sizes_.push_back(static_cast<int>(tunable.values.size()));
    if (auto points = space.enumerate(kEnumerable)) all_ = *std::move(points);
    listed_ = space.tuples() <= kEnumerable;
  }

  Result<TuneSearchResult> run_all(int passes) {
    std::vector<TunePoint> order = all_;
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<std::size_t>(rng_.integer(0, static_cast<std::int64_t>(i) - 1))]);
      for (std::size_t i = 0; i < order.size() && hooks_.go_on(); ++i) {
        if (refused_.count(order[i]) != 0 || known_code_.count(order[i]) != 0) continue;
        hooks_.soon({order.begin() + static_cast<std::ptrdiff_t>(i),
                     order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), i + kAhead))});
        KERF_TRY_VOID(time_point(order[i], options_.rounds));
      }
    }
    return result();
  }

  Result<TuneSearchResult> run() {
    const int total = std::max(1, options_.evaluations);
    const int reserve = total < 5 ? 0 : std::clamp(total / 12, 1, 6);  // for the halving
    const int start = std::clamp(static_cast<int>(0.2 * total), 3, 3 + static_cast<int>(sizes_.size()));
    KERF_TRY_VOID(begin(std::min(start, total)));
    // Finding out that a tuple is known code takes a compiler: not more often than timing would be allowed.
    while (timings_ < total - reserve && static_cast<int>(known_code_.size()) < total && hooks_.go_on()) {
      const auto next = choose();
      if (next.empty()) break;
      hooks_.soon(next);
      KERF_TRY_VOID(time_point(next.front(), options_.rounds));
    }
    KERF_TRY_VOID(halve(std::min(total - timings_, std::max(reserve, 6))));
    return result();
  }

 private:
  TuneSearchResult result() const {
    const std::size_t seen = known_.size() + refused_.size() + known_code_.size();
    return {ranking(), timings_, static_cast<int>(known_code_.size()), listed_ && seen >= all_.size()};
  }

  bool seen(const TunePoint& point) const {
    return known_.count(point) != 0 || refused_.count(point) != 0 || known_code_.count(point) != 0;
  }

  Status time_point(const TunePoint& point, int rounds) {
    if (hooks_.is_known_code && !seen(point)) {
      KERF_TRY(const bool known, hooks_.is_known_code(point));
      if (known) {
        known_code_.insert(point);
        return {};
      }
    }
    ++timings_;
    KERF_TRY(const auto estimate, hooks_.time(point, rounds));
    if (estimate) {
      known_[point] = *estimate;
    } else {
      known_.erase(point);
      refused_.insert(point);
    }
    return {};
  }

  /// The defaults, then each time the tuple of a random few that is farthest from what was seen.
  Status begin(int count) {
    std::vector<TunePoint> plan;
    if (space_.allowed(space_.defaults())) plan.push_back(space_.defaults());
    for (int missing = 0; static_cast<int>(plan.size()) < count && missing < 3;) {
      std::vector<TunePoint> few = candidates(kFew);
      double farthest = 0;
      const TunePoint* best = nullptr;
      for (const TunePoint& point : few) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const TunePoint& other : plan) nearest = std::min(nearest, distance(point, other, sizes_));
        if (nearest > farthest) {
          farthest = nearest;
          best = &point;
        }
      }
      if (best == nullptr)
        ++missing;
      else
        plan.push_back(*best);
    }
    hooks_.soon(plan);
    for (const TunePoint& point : plan) {
      if (timings_ > 0 && !hooks_.go_on()) break;
      KERF_TRY_VOID(time_point(point, options_.rounds));
    }
    return {};
  }

  /// Up to `count` allowed tuples, at random.
  std::vector<TunePoint> candidates(std::size_t count) {
    std::vector<TunePoint> result;
    if (listed_ && (all_.empty() || (all_.size() <= count && count > kFew))) return all_;
    for (std::size_t i = 0; i < count; ++i) {
      if (listed_)
        result.push_back(all_[static_cast<std::size_t>(rng_.integer(0, static_cast<std::int64_t>(all_.size()) - 1))]);
      else if (auto point = space_.draw(rng_))
        result.push_back(*std::move(point));
    }
    return result;
  }

  std::vector<std::pair<TunePoint, TuneEstimate>> ranking() const {
    std::vector<std::pair<TunePoint, TuneEstimate>> list(known_.begin(), known_.end());
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second.log_us < b.second.log_us; });
    return list;
  }

  /// The most promising tuples that were not seen, best first; empty when there are none.
  std::vector<TunePoint> choose() {
    ++choices_;
    std::set<TunePoint> pool, near;
    for (auto& point : candidates(kPool))
      if (!seen(point)) pool.insert(std::move(point));
    const auto best = ranking();
    for (std::size_t i = 0; i < std::min<std::size_t>(best.size(), 3); ++i) {
      for (auto& point : space_.neighbours(best[i].first)) {
        if (seen(point)) continue;
        if (i == 0) near.insert(point);
        pool.insert(std::move(point));
      }
    }
    if (pool.empty()) return {};
    if (best.empty()) return {pool.begin(), std::next(pool.begin())};
    const TuneModel model = fitted(best);
    const bool local = choices_ % 2 == 0 && !near.empty(), bold = choices_ % 4 == 1;
    return promising(model, local ? near : pool, bold ? 0 : kBar);
  }

  TuneModel fitted(const std::vector<std::pair<TunePoint, TuneEstimate>>& best) {
    std::vector<TuneModel::Seen> observations;
    for (const auto& [point, estimate] : best) observations.push_back({point, estimate.log_us, estimate.error});
    const double slowest = best.back().second.log_us;  // a refused tuple is no better than the worst one that runs
    for (const TunePoint& point : refused_) observations.push_back({point, slowest, 0.1});
    if (static_cast<double>(observations.size()) >= kNewScales * static_cast<double>(scaled_for_)) {
      scales_.clear();
      scaled_for_ = observations.size();
    }
    TuneModel model(sizes_, observations, scales_);
    scales_ = model.scales();
    return model;
  }

  static std::vector<TunePoint> promising(const TuneModel& model, const std::set<TunePoint>& pool, double bar) {
    std::vector<std::pair<double, TunePoint>> gains;
    for (const TunePoint& point : pool)
      gains.emplace_back(-TuneModel::expected_gain(model.guess(point), model.lowest_mean() + bar), point);
    std::sort(gains.begin(), gains.end());
    std::vector<TunePoint> result;
    for (std::size_t i = 0; i < std::min(gains.size(), kAhead); ++i) result.push_back(gains[i].second);
    return result;
  }

  Status halve(int timings) {
    int rounds = 4 * options_.rounds;
    for (int width = (timings + 1) / 2 + (timings == 2 ? 1 : 0); width >= 1 && timings > 0; width /= 2, rounds *= 2) {
      const auto best = ranking();
      if (best.size() < 2) return {};
      for (std::size_t i = 0; i < std::min<std::size_t>(best.size(), static_cast<std::size_t>(width)); ++i) {
        if (timings-- <= 0 || !hooks_.go_on()) return {};
        KERF_TRY_VOID(time_point(best[i].first, rounds));
      }
    }
    return {};
  }

  const TuneSpace& space_;
  const TuneSearchOptions& options_;
  const TuneSearchHooks& hooks_;
  Rng rng_;
  std::vector<int> sizes_;
  std::vector<TunePoint> all_;  // when listed_
  bool listed_ = false;
  std::map<TunePoint, TuneEstimate> known_;
  std::set<TunePoint> refused_, known_code_;
  int timings_ = 0, choices_ = 0;
  std::vector<double> scales_;  // of the model
  std::size_t scaled_for_ = 0;  // observations that it had then
};

}  // namespace

Result<TuneSearchResult> tune_search(const TuneSpace& space, const TuneSearchOptions& options,
                                     const TuneSearchHooks& hooks) {
  return Search(space, options, hooks).run();
}

Result<TuneSearchResult> tune_exhaustively(const TuneSpace& space, const TuneSearchOptions& options, int passes,
                                           const TuneSearchHooks& hooks) {
  constexpr double kMost = 20'000;
  const auto points = space.enumerate(kMost);
  if (!points || points->size() > 5000)
    return fail(Errc::invalid_input,
                "the space of tunables is too large to try all of it; tune within a number of evaluations");
  return Search(space, options, hooks).run_all(passes);
}

}  // namespace kerf
