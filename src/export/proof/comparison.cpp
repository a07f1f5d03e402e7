#include <fmt/format.h>

#include <algorithm>

#include "export/proof/proof.hpp"

namespace kerf::exporting {
namespace {

/// Ends of an interval further apart than this say little about speed.
constexpr double kWidest = 1.5;

bool lies_in(double ratio, const Speedup& interval, double slack) {
  return ratio * (1 + slack) >= interval.low && ratio <= interval.high * (1 + slack);
}

const ShapeMeasurement* find_shape(const Measurement& measurement, const std::string& name) {
  const auto found = std::find_if(measurement.shapes.begin(), measurement.shapes.end(),
                                  [&](const ShapeMeasurement& shape) { return shape.shape == name; });
  return found == measurement.shapes.end() ? nullptr : &*found;
}

/// What a shape's ratio over the baseline is; none when it was not measured.
const Speedup* ratio_of(const ShapeMeasurement* shape, const std::string& baseline) {
  if (shape == nullptr) return nullptr;
  const auto found = shape->speedups.find(baseline);
  return found == shape->speedups.end() ? nullptr : &found->second;
}

/// Every shape's claimed ratio is near the one found: a mean can be right with shapes that are not.
bool shapes_agree(const Measurement& then, const Measurement& now, double slack, std::vector<std::string>& remarks) {
  bool agree = true;
  for (const auto& shape : then.shapes) {
    const Speedup* claimed = ratio_of(&shape, then.speedup.vs);
    const Speedup* found = ratio_of(find_shape(now, shape.shape), then.speedup.vs);
    if (claimed == nullptr || found == nullptr || lies_in(claimed->ratio, *found, 3 * slack)) continue;
    agree = false;
    remarks.push_back(fmt::format("shape '{}': {:.3g} times over {} was claimed, {:.3g} to {:.3g} was found",
                                  shape.shape, claimed->ratio, then.speedup.vs, found->low, found->high));
  }
  return agree;
}

}  // namespace

bool is_noisy(const Speedup& speedup) { return speedup.high > kWidest * speedup.low; }

Comparison compare(const Evaluation& claimed, const Evaluation& fresh, double slack) {
  Comparison result;
  result.same_device = claimed.device == fresh.device && claimed.target == fresh.target;
  if (!result.same_device)
    result.remarks.push_back(fmt::format("the claim was made on '{}', this is '{}': its speed cannot be compared here",
                                         claimed.device, fresh.device));
  if (claimed.toolchain != fresh.toolchain)
    result.remarks.push_back(fmt::format("the tools differ: '{}' then, '{}' now", claimed.toolchain, fresh.toolchain));
  const auto* then = std::get_if<Measurement>(&claimed.outcome);
  const auto* now = std::get_if<Measurement>(&fresh.outcome);
  if (then != nullptr) result.claimed = then->speedup;
  result.right = now != nullptr;
  if (now == nullptr || then == nullptr) return result;
  const auto broken = [](const std::optional<bool>& said, const std::optional<bool>& seen) {
    return said.value_or(false) && !seen.value_or(true);
  };
  if (broken(claimed.seen.deterministic, fresh.seen.deterministic) ||
      broken(claimed.seen.batch_invariant, fresh.seen.batch_invariant)) {
    result.right = false;
    result.remarks.push_back(
        fmt::format("the claim says '{}', here it is '{}'", seen_words(claimed), seen_words(fresh)));
    return result;
  }
  result.found = now->speedup;
  if (!result.same_device) return result;
  if (!(result.found.ratio > 0)) {
    result.remarks.push_back("nothing was timed here");
    return result;
  }
  if (result.found.vs != result.claimed.vs)
    result.remarks.push_back(
        fmt::format("the strongest baseline here is '{}'; the claim is over '{}'", result.found.vs, result.claimed.vs));
  if (!lies_in(result.claimed.ratio, result.found, slack) || !shapes_agree(*then, *now, slack, result.remarks)) {
    result.speed = SpeedCheck::refuted;
  } else if (is_noisy(result.found)) {
    result.remarks.push_back("the timing here is noisy: its interval is too wide to say much about speed");
  } else {
    result.speed = SpeedCheck::confirmed;
  }
  return result;
}

}  // namespace kerf::exporting
