#pragma once
// One candidate on its way through the search's jobs. Private to this room.

#include <cstdint>
#include <optional>

#include "search/asking.hpp"
#include "search/job.hpp"

namespace kerf {

struct Ticket {
  /// Which job is under way or was done last.
  enum class Phase { asked, building, ready, evaluating, measuring_longer, comparing, comparing_longer };

  Phase phase = Phase::building;
  Effort effort = Effort::search;
  bool slow = false;                 ///< from a mind that takes its time: judged when it arrives
  std::optional<Question> question;  ///< of slow minds
  double asked_at = 0;               ///< likewise: run time in seconds
  Planned planned;
  std::optional<Evaluation> known;            ///< a verdict that tuning came to
  std::optional<Inspection> inspection;       ///< none when it does not compile
  Evaluation evaluation;                      ///< so far
  std::optional<std::int64_t> compared_with;  ///< the step it is timed in turn with

  Kernel kernel() const { return {planned.candidate, planned.step.tunables}; }
};

}  // namespace kerf
