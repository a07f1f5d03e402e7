// Replays the tuner on recorded landscapes (`kerf tune --all N --json`): a timing of a tuple draws from the samples
// that were taken of it, so the noise is that of the machine. How often does a fifth of the evaluations find a tuple
// within 2 % of the best?

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.hpp"
#include "base/statistics.hpp"
#include "search/tune_search.hpp"

namespace {

using namespace kerf;
using nlohmann::json;

struct Landscape {
  TuneSpace space;
  std::map<std::string, std::vector<std::int64_t>> values;  // of the tunables
  std::set<TunePoint> allowed;
  std::map<TunePoint, std::vector<double>> samples;  // none: refused by a gate
  std::map<TunePoint, double> truth;                 // of those that were timed
  double best = 0;
};

Bindings bindings_of(const json& object) {
  Bindings values;
  for (const auto& [name, value] : object.items()) values[name] = value.get<std::int64_t>();
  return values;
}

/// Weighted geometric means over the shapes, sample by sample.
std::vector<double> combined(const json& shapes) {
  std::vector<double> sums;
  double weights = 0;
  for (const auto& shape : shapes) {
    const auto us = shape.at("us").get<std::vector<double>>();
    const double weight = shape.at("weight").get<double>();
    sums.resize(sums.empty() ? us.size() : std::min(sums.size(), us.size()), 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * std::log(us[i]);
    weights += weight;
  }
  for (double& sum : sums) sum = std::exp(sum / weights);
  return sums;
}

/// The space with `first` as the values that the kernel's author would have chosen.
Result<TuneSpace> space_with(const std::map<std::string, std::vector<std::int64_t>>& values, const Bindings& first) {
  std::string header;
  for (const auto& [name, list] : values) {
    std::vector<std::int64_t> order = list;
    if (const auto found = first.find(name); found != first.end())
      std::stable_partition(order.begin(), order.end(), [&](std::int64_t value) { return value == found->second; });
    header += fmt::format("tune: {} = {{{}}}\n", name, fmt::join(order, ", "));
  }
  KERF_TRY(const Candidate candidate, parse_candidate("recorded", "/* kerf\n" + header + "*/\n"));
  return TuneSpace::make(candidate, {}, {});
}

Result<Landscape> load(const std::string& path) {
  KERF_TRY(const std::string text, read_file(path));
  const json record = json::parse(text, nullptr, false);
  if (record.is_discarded() || !record.value("complete", false))
    return fail(Errc::invalid_input, path + " is not a complete landscape; record it with 'kerf tune --all 3 --json'");
  std::map<std::string, std::vector<std::int64_t>> values;
  for (const auto& [name, list] : record.at("tunables").items()) values[name] = list.get<std::vector<std::int64_t>>();
  KERF_TRY(TuneSpace space, space_with(values, {}));
  Landscape landscape{std::move(space), values, {}, {}, {}, 0};
  for (const auto& row : record.at("table")) {
    const TunePoint point = landscape.space.point(bindings_of(row.at("tunables")));
    landscape.allowed.insert(point);
    auto& samples = landscape.samples[point];
    if (row.at("outcome") != "timed") continue;
    samples = combined(row.at("shapes"));
    const double us = landscape.truth[point] = quantile(samples, 0.25);  // as tune() scores
    if (landscape.best == 0 || us < landscape.best) landscape.best = us;
  }
  if (landscape.truth.empty()) return fail(Errc::invalid_input, path + ": no tuple was timed");
  landscape.space.restrict_to(landscape.allowed);
  return landscape;
}

struct Replay {
  double loss = 0;  // time of the tuple that was chosen over the best
  int first = 0;    // timing that was the first within 2 %; 0: none
  int timings = 0;
};

constexpr double kClose = 1.02;

TuneSearchHooks hooks_for(const Landscape& land, Rng& rng, std::map<TunePoint, std::vector<double>>& pooled,
                          Replay& replay) {
  TuneSearchHooks hooks;
  hooks.time = [&](const TunePoint& point, int rounds) -> Result<std::optional<TuneEstimate>> {
    ++replay.timings;
    const auto& samples = land.samples.at(point);
    if (samples.empty()) return std::optional<TuneEstimate>{};
    if (replay.first == 0 && land.truth.at(point) <= kClose * land.best) replay.first = replay.timings;
    auto& seen = pooled[point];
    const auto draw = [&](int count) {
      for (int i = 0; i < count; ++i)
        seen.push_back(
            samples[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(samples.size()) - 1))]);
      return median_interval(seen);
    };
    Interval interval = draw(rounds);  // as tune() times: longer where it was disturbed
    for (int again = 0; again < 2 && interval.high > 1.25 * interval.low; ++again) interval = draw(2 * rounds);
    return std::optional<TuneEstimate>(
        {std::log(quantile(seen, 0.25)), std::max(std::log(interval.high / interval.low) / 4, 0.005)});
  };
  hooks.go_on = [] { return true; };
  hooks.soon = [](const std::vector<TunePoint>&) {};
  return hooks;
}

Result<Replay> replay_tuner(const Landscape& land, int budget, std::uint64_t seed) {
  Replay replay;
  Rng rng = Rng(seed).fork("noise");
  std::map<TunePoint, std::vector<double>> pooled;
  const TuneSearchHooks hooks = hooks_for(land, rng, pooled, replay);
  // From anywhere: good defaults would give the answer away.
  auto start = land.allowed.begin();
  std::advance(start, rng.integer(0, static_cast<std::int64_t>(land.allowed.size()) - 1));
  KERF_TRY(TuneSpace space, space_with(land.values, land.space.bindings(*start)));
  space.restrict_to(land.allowed);
  KERF_TRY(const TuneSearchResult found, tune_search(space, {budget, seed, 5}, hooks));
  replay.loss = found.ranking.empty() ? INFINITY : land.truth.at(found.ranking.front().first) / land.best;
  return replay;
}

/// The same number of different tuples at random, the best by its measured time.
Result<Replay> replay_random(const Landscape& land, int budget, std::uint64_t seed) {
  Replay replay;
  Rng rng = Rng(seed).fork("random");
  std::map<TunePoint, std::vector<double>> pooled;
  const TuneSearchHooks hooks = hooks_for(land, rng, pooled, replay);
  std::vector<TunePoint> order;
  for (const auto& [point, samples] : land.samples) order.push_back(point);
  double best = INFINITY;
  replay.loss = INFINITY;
  for (int i = 0; i < budget; ++i) {
    const auto at = static_cast<std::size_t>(rng.integer(i, static_cast<std::int64_t>(order.size()) - 1));
    std::swap(order[static_cast<std::size_t>(i)], order[at]);
    const TunePoint& point = order[static_cast<std::size_t>(i)];
    KERF_TRY(const auto seen, hooks.time(point, 5));
    if (!seen || seen->log_us >= best) continue;
    best = seen->log_us;
    replay.loss = land.truth.at(point) / land.best;
  }
  return replay;
}

json summary(const std::vector<Replay>& replays, int budget) {
  std::vector<double> losses, firsts;
  int close = 0, timings = 0;
  for (const Replay& replay : replays) {
    losses.push_back(std::min(replay.loss, 1e9));
    firsts.push_back(replay.first == 0 ? budget + 1 : replay.first);
    close += replay.loss <= kClose ? 1 : 0;
    timings = std::max(timings, replay.timings);
  }
  const double n = static_cast<double>(replays.size()), p = close / n, z = 1.96;  // Wilson's interval
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {{"close", p},
          {"close_low", middle - half},
          {"close_high", middle + half},
          {"median_loss", median(losses)},
          {"p90_loss", quantile(losses, 0.9)},
          {"median_evaluations_to_close", median(firsts)},
          {"p90_evaluations_to_close", quantile(firsts, 0.9)},
          {"most_timings", timings}};
}

Result<json> judge(const std::string& path, int seeds, double share) {
  KERF_TRY(const Landscape land, load(path));
  const auto points = static_cast<int>(land.samples.size());
  const int budget = std::max(1, static_cast<int>(share * points));
  std::vector<Replay> tuned, random;
  for (int seed = 1; seed <= seeds; ++seed) {
    KERF_TRY(Replay one, replay_tuner(land, budget, static_cast<std::uint64_t>(seed)));
    KERF_TRY(Replay other, replay_random(land, budget, static_cast<std::uint64_t>(seed)));
    tuned.push_back(one);
    random.push_back(other);
  }
  int close = 0;
  std::vector<double> spread;
  for (const auto& [point, us] : land.truth) {
    close += us <= kClose * land.best ? 1 : 0;
    const Interval interval = median_interval(land.samples.at(point));
    spread.push_back((interval.high - interval.low) / 2 / us);
  }
  const double defaults =
      land.truth.count(land.space.defaults()) != 0 ? land.truth.at(land.space.defaults()) / land.best : 0;
  return json{{"landscape", path},
              {"points", points},
              {"timed", land.truth.size()},
              {"best_us", land.best},
              {"defaults_loss", defaults},
              {"points_within_2_percent", close},
              {"median_noise", median(spread)},
              {"budget", budget},
              {"seeds", seeds},
              {"kerf", summary(tuned, budget)},
              {"random", summary(random, budget)}};
}

}  // namespace

int main(int argc, char** argv) {
  int seeds = 200;
  double share = 0.2;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--seeds" && i + 1 < argc)
      seeds = std::max(1, std::atoi(argv[++i]));
    else if (arg == "--share" && i + 1 < argc)
      share = std::atof(argv[++i]);
    else
      files.push_back(arg);
  }
  if (files.empty() || !(share > 0 && share <= 1)) {
    std::cerr << "usage: tuning_replay [--seeds N] [--share 0.2] LANDSCAPE.json ...\n";
    return 2;
  }
  for (const auto& file : files) {
    const auto result = judge(file, seeds, share);
    if (!result) {
      std::cerr << result.error().message << "\n";
      return 2;
    }
    std::cout << result->dump() << std::endl;
  }
  return 0;
}
