#include "judge/judge_options.hpp"

#include <fmt/format.h>

#include "judge/judge_settings.hpp"

namespace kerf {

std::string key_text(const JudgeOptions& options) {
  // A structured binding: a new member does not compile until somebody has decided here whether it counts.
  const auto& [seed, only_shape, measure, call_limit, timed_data_sets, skip_timing, certify, soak_seconds, cache,
               use_evaluation_cache] = options;
  (void)cache;
  (void)use_evaluation_cache;
  const std::string soak = certify ? fmt::format("|soak {}", soak_seconds) : "";
  return soak + fmt::format("{}|{}|{}|{}|{}|{}{}", seed, only_shape, key_text(measure), call_limit.count(),
                            timed_data_sets, skip_timing, settings_key(options));
}

}  // namespace kerf
