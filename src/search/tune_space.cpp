#include "search/tune_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kerf {

Result<TuneSpace> TuneSpace::make(const Candidate& candidate, const std::vector<ShapeSet>& shapes,
                                  const DeviceFacts& facts) {
  if (candidate.tunables.empty())
    return fail(Errc::invalid_input,
                fmt::format("{} has no tunables: add lines like 'tune: BLOCK = {{64, 128, 256}}' to its header",
                            candidate.name));
  TuneSpace space;
  for (const Tunable& tunable : candidate.tunables) {
    space.defaults_.push_back(tunable.values.front());
    space.tunables_.push_back(tunable);
    std::sort(space.tunables_.back().values.begin(), space.tunables_.back().values.end());
  }
  space.requirements_ = candidate.requirements;
  space.requirement_texts_ = candidate.requirement_texts;
  space.launches_ = candidate.plan.launches;
  space.shapes_ = shapes;
  space.max_threads_ = facts.max_threads_per_block;
  space.max_shared_ = facts.max_shared_bytes;
  return space;
}

TunePoint TuneSpace::point(const Bindings& bindings) const {
  TunePoint point;
  for (const Tunable& tunable : tunables_) {
    const auto value = std::find(tunable.values.begin(), tunable.values.end(), bindings.at(tunable.name));
    KERF_CHECK(value != tunable.values.end(), "the value is one of the tunable's");
    point.push_back(static_cast<int>(value - tunable.values.begin()));
  }
  return point;
}

TunePoint TuneSpace::defaults() const {
  Bindings values;
  for (std::size_t d = 0; d < tunables_.size(); ++d) values[tunables_[d].name] = defaults_[d];
  return point(values);
}

Bindings TuneSpace::bindings(const TunePoint& point) const {
  Bindings values;
  for (std::size_t d = 0; d < tunables_.size(); ++d)
    values[tunables_[d].name] = tunables_[d].values[static_cast<std::size_t>(point[d])];
  return values;
}

std::string TuneSpace::refusal(const TunePoint& point) const {
  if (only_ && only_->count(point) == 0) return "left out";
  const Bindings values = bindings(point);
  for (const ShapeSet& shape : shapes_) {
    Bindings constants = shape.symbols;
    constants.insert(values.begin(), values.end());
    for (std::size_t i = 0; i < requirements_.size(); ++i) {
      const auto holds = requirements_[i].evaluate(constants);
      if (!holds) return "require: " + requirement_texts_[i] + ": " + holds.error().message;
      if (*holds == 0)
        return fmt::format("require: {} does not hold for shape '{}'", requirement_texts_[i], shape.name);
    }
    for (const Launch& launch : launches_) {
      std::int64_t threads = 1;
      for (const auto* extents : {&launch.block, &launch.grid}) {
        for (const Dim& extent : *extents) {
          const auto value = extent.evaluate(constants);
          if (!value) return launch.kernel + ": " + value.error().message;
          if (*value < 1)
            return fmt::format("{}: an extent of the launch is {} for shape '{}'", launch.kernel, *value, shape.name);
          if (extents == &launch.block) threads *= std::min<std::int64_t>(*value, 1 << 20);
        }
      }
      if (max_threads_ > 0 && threads > max_threads_)
        return fmt::format("{}: {} work items per group, the device takes {}", launch.kernel, threads, max_threads_);
      const auto shared = launch.shared_bytes.evaluate(constants);
      if (!shared) return launch.kernel + ": " + shared.error().message;
      if (max_shared_ > 0 && *shared > max_shared_)
        return fmt::format("{}: {} bytes of shared memory, the device has {}", launch.kernel, *shared, max_shared_);
    }
  }
  return "";
}

double TuneSpace::tuples() const {
  double count = 1;
  for (const Tunable& tunable : tunables_) count *= static_cast<double>(tunable.values.size());
  return count;
}

std::optional<std::vector<TunePoint>> TuneSpace::enumerate(double limit) const {
  if (tuples() > limit) return std::nullopt;
  std::vector<TunePoint> points;
  TunePoint point(tunables_.size(), 0);
  while (true) {
    if (allowed(point)) points.push_back(point);
    std::size_t d = point.size();
    while (d > 0 && ++point[d - 1] == static_cast<int>(tunables_[d - 1].values.size())) point[--d] = 0;
    if (d == 0) return points;
  }
}

std::optional<TunePoint> TuneSpace::draw(Rng& rng) const {
  for (int tries = 0; tries < 2000; ++tries) {
    TunePoint point;
    for (const Tunable& tunable : tunables_)
      point.push_back(static_cast<int>(rng.integer(0, static_cast<std::int64_t>(tunable.values.size()) - 1)));
    if (allowed(point)) return point;
  }
  return std::nullopt;
}

std::vector<TunePoint> TuneSpace::neighbours(const TunePoint& point) const {
  std::vector<TunePoint> result;
  for (std::size_t d = 0; d < point.size(); ++d) {
    for (const int step : {-1, 1}) {
      TunePoint next = point;
      next[d] += step;
      if (next[d] >= 0 && next[d] < static_cast<int>(tunables_[d].values.size()) && allowed(next))
        result.push_back(next);
    }
  }
  return result;
}

}  // namespace kerf
