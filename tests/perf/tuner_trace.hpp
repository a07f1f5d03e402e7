#pragma once
// Which tuples the tuner times, one after the other, on a landscape where every tuple has one known time: no noise, so
// that what it does can be set beside other tuners' simulations.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/tune_search.hpp"

namespace kerf::perf {

struct TraceLandscape {
  std::vector<std::vector<std::int64_t>> values;  ///< of each tunable; the tunables are T0, T1, ...
  std::vector<Bindings> points;                   ///< the allowed tuples
  std::vector<double> us;                         ///< time of each point; 0: it is refused when it is run

  double best() const {
    double result = 0;
    for (const double time : us)
      if (time > 0 && (result == 0 || time < result)) result = time;
    return result;
  }
};

/// {"values": [[...], ...], "points": [[value of each tunable], ...], "us": [time or null, ...]}
inline Result<TraceLandscape> parse_trace_landscape(const std::string& text) {
  const auto record = nlohmann::json::parse(text, nullptr, false);
  const auto bad = [](const std::string& why) { return fail(Errc::invalid_input, "not a landscape: " + why); };
  if (!record.is_object()) return bad("no JSON object");
  for (const char* key : {"values", "points", "us"})
    if (!record.contains(key) || !record.at(key).is_array()) return bad(fmt::format("no array '{}'", key));
  TraceLandscape landscape;
  try {
    record.at("values").get_to(landscape.values);
    for (const auto& row : record.at("points")) {
      Bindings& point = landscape.points.emplace_back();
      for (std::size_t d = 0; d < landscape.values.size(); ++d)
        point[fmt::format("T{}", d)] = row.at(d).get<std::int64_t>();
    }
    for (const auto& us : record.at("us")) landscape.us.push_back(us.is_null() ? 0 : us.get<double>());
  } catch (const nlohmann::json::exception& error) {
    return bad(error.what());
  }
  if (landscape.points.size() != landscape.us.size()) return bad("as many 'us' as 'points' are wanted");
  if (!(landscape.best() > 0)) return bad("no point has a time");
  return landscape;
}

/// The space of the landscape with `first` as what the kernel's author would have chosen.
inline Result<TuneSpace> space_from(const TraceLandscape& landscape, const Bindings& first) {
  std::string header;
  for (std::size_t d = 0; d < landscape.values.size(); ++d) {
    const std::string name = fmt::format("T{}", d);
    std::vector<std::int64_t> order = landscape.values[d];
    std::stable_partition(order.begin(), order.end(), [&](std::int64_t value) { return value == first.at(name); });
    header += fmt::format("tune: {} = {{{}}}\n", name, fmt::join(order, ", "));
  }
  KERF_TRY(const Candidate candidate, parse_candidate("recorded", "/* kerf\n" + header + "*/\n"));
  return TuneSpace::make(candidate, {}, {});
}

/// The points by number in the order in which they are timed, repeated timings included, from a point drawn with the
/// seed in place of the defaults; ends with the first that is within `close` times the best.
inline Result<std::vector<int>> trace_tuner(const TraceLandscape& landscape, int budget, std::uint64_t seed,
                                            double close) {
  const auto last = static_cast<std::int64_t>(landscape.points.size()) - 1;
  const auto start = static_cast<std::size_t>(Rng(seed).fork("start").integer(0, last));
  KERF_TRY(TuneSpace space, space_from(landscape, landscape.points[start]));
  std::map<TunePoint, int> numbers;
  std::set<TunePoint> allowed;
  for (std::size_t i = 0; i < landscape.points.size(); ++i) {
    numbers[space.point(landscape.points[i])] = static_cast<int>(i);
    allowed.insert(space.point(landscape.points[i]));
  }
  space.restrict_to(std::move(allowed));
  const double enough = close * landscape.best();
  constexpr double kError = 0.005;  // the least that tune() claims
  std::vector<int> trace;
  bool found = false;
  TuneSearchHooks hooks;
  hooks.time = [&](const TunePoint& point, int) -> Result<std::optional<TuneEstimate>> {
    trace.push_back(numbers.at(point));
    const double us = landscape.us[static_cast<std::size_t>(trace.back())];
    if (!(us > 0)) return std::optional<TuneEstimate>{};
    found = found || us <= enough;
    return std::optional<TuneEstimate>({std::log(us), kError});
  };
  hooks.go_on = [&] { return !found; };
  hooks.soon = [](const std::vector<TunePoint>&) {};
  KERF_TRY_VOID(tune_search(space, {budget, seed, 5}, hooks));
  return trace;
}

}  // namespace kerf::perf
