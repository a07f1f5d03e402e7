#include "run/standing.hpp"

#include <algorithm>
#include <cmath>

namespace kerf {

Standing standing_of(const Speedup& speedup) {
  if (!(speedup.ratio > 0) || !std::isfinite(speedup.ratio)) return Standing::untimed;
  if (speedup.low > 1) return Standing::faster;
  return speedup.high < 1 ? Standing::slower : Standing::undecided;
}

std::string standing_name(Standing standing) {
  switch (standing) {
    case Standing::untimed: return "untimed";
    case Standing::faster: return "faster";
    case Standing::undecided: return "undecided";
    case Standing::slower: return "slower";
  }
  return "";
}

bool naive_is_usable(std::span<const Step> steps, std::string_view source) {
  return std::none_of(steps.begin(), steps.end(), [&](const Step& step) {
    return is_fallback(step) && step.source == source && !is_duplicate(step) &&
           !std::holds_alternative<Measurement>(step.evaluation.outcome);
  });
}

std::string standing_text(const Speedup& speedup) {
  switch (standing_of(speedup)) {
    case Standing::untimed: return "not timed";
    case Standing::faster: return "faster than " + speedup.vs;
    case Standing::undecided: return "not shown to be faster than " + speedup.vs;
    case Standing::slower: return "slower than " + speedup.vs;
  }
  return "";
}

}  // namespace kerf
