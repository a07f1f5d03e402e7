#include "archive/speedup_estimates.hpp"

#include <cmath>

#include "base/result.hpp"

namespace kerf {

SpeedupEstimates::Noise SpeedupEstimates::noise_of(const Speedup& speedup) {
  Noise noise;
  if (speedup.low > 0 && speedup.low < speedup.ratio) noise.below = std::log(speedup.ratio / speedup.low);
  if (speedup.high > speedup.ratio) noise.above = std::log(speedup.high / speedup.ratio);
  return noise;
}

SpeedupEstimates::Noise SpeedupEstimates::sum(const Noise& a, const Noise& b) {
  return {std::hypot(a.below, b.below), std::hypot(a.above, b.above)};
}

const SpeedupEstimates::Entry* SpeedupEstimates::timed(std::int64_t step) const {
  if (step < 1 || step > static_cast<std::int64_t>(entries_.size())) return nullptr;
  const Entry& entry = entries_[static_cast<std::size_t>(step) - 1];
  return entry.own.ratio > 0 ? &entry : nullptr;
}

void SpeedupEstimates::observe(const Step& step) {
  KERF_CHECK(step.number == static_cast<std::int64_t>(entries_.size()) + 1, "steps come in order, without gaps");
  Entry& entry = entries_.emplace_back();
  const auto* measurement = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measurement == nullptr) return;
  if (!(measurement->speedup.ratio > 0) || !std::isfinite(measurement->speedup.ratio)) return;
  entry.own = measurement->speedup;
  entry.plain = is_fallback(step);
  if (entry.plain && entry.own.vs == step.name) entry.own = {entry.own.vs, 1, 1, 1};  // it is its own baseline
  entry.root = step.number;
  entry.log = std::log(entry.own.ratio);
  const auto& comparison = measurement->comparison;
  if (comparison && comparison->step < step.number && comparison->ratio > 0) {
    if (const Entry* other = timed(comparison->step); other != nullptr) {
      entry.root = other->root;
      entry.log = other->log + std::log(comparison->ratio);
      entry.chained = sum(other->chained, noise_of({"", comparison->ratio, comparison->low, comparison->high}));
    }
  }
  if (!is_confirmation(step) || step.parents.empty()) return;
  const std::int64_t before = step.parents.front();
  if (before >= step.number || timed(before) == nullptr) return;
  entry.before = before;
  entries_[static_cast<std::size_t>(before) - 1].again = step.number;
}

/// On the scale of the search, for finalists too: the first of them takes the place of the step it measured again.
double SpeedupEstimates::settled_log(const Entry& entry) const {
  if (const Entry* again = timed(entry.again); again != nullptr) return settled_log(*again);
  const Entry* root = timed(entry.root);
  const Entry* before = root == nullptr ? nullptr : timed(root->before);
  return before == nullptr ? entry.log : entry.log - root->log + before->log;
}

Speedup SpeedupEstimates::so_far(std::int64_t step) const {
  const Entry* entry = timed(step);
  if (entry == nullptr || entry->plain) return {};
  if (entry->root == step) return entry->own;
  const Noise noise = sum(entry->chained, noise_of(timed(entry->root)->own));
  return {entry->own.vs, std::exp(entry->log), std::exp(entry->log - noise.below), std::exp(entry->log + noise.above)};
}

Speedup SpeedupEstimates::on_scale_of(std::int64_t anchor, std::int64_t step) const {
  const Entry* scale = timed(anchor);
  const Entry* entry = timed(step);
  if (scale == nullptr || entry == nullptr || entry->plain) return so_far(step);
  const Entry* last = timed(entry->again) != nullptr ? timed(entry->again) : entry;
  if (last == scale || entry->before == anchor) return scale->own;
  Noise noise = sum(noise_of(scale->own), last->chained);
  noise = sum(noise, {scale->chained.above, scale->chained.below});
  const auto origin = [&](const Entry& one) {  // in the search: the step that everything about `one` starts from
    const Entry* root = timed(one.root);
    const Entry* before = timed(root->before);
    return before == nullptr ? root : timed(before->root);
  };
  const Entry *ours = origin(*last), *theirs = origin(*scale);
  if (ours != theirs) {  // two measurements at different times stand between them
    const Noise other = noise_of(theirs->own);
    noise = sum(noise, sum(noise_of(ours->own), {other.above, other.below}));
    if (const Entry* before = timed(scale->before); before != nullptr) {  // so far apart the best's own two figures are
      const double apart = std::abs(std::log(scale->own.ratio) - before->log);
      noise = sum(noise, {apart, apart});
    }
  }
  const double log = std::log(scale->own.ratio) + settled_log(*entry) - settled_log(*scale);
  return {scale->own.vs, std::exp(log), std::exp(log - noise.below), std::exp(log + noise.above)};
}

}  // namespace kerf
