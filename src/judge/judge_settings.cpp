#include "judge/judge_settings.hpp"

#include <fmt/format.h>

namespace kerf {
namespace {

Setting<JudgeOptions> entry(SettingFacts facts, auto field) { return setting<JudgeOptions>(std::move(facts), field); }

}  // namespace

const std::vector<Setting<JudgeOptions>>& judge_settings() {
  static const std::vector<Setting<JudgeOptions>> all = {
      entry({"measure.min_rounds", "rounds", 1, 1e6, true, "rounds before the noise is looked at"},
            [](auto& o) -> auto& { return o.measure.min_rounds; }),
      entry({"measure.max_rounds", "rounds", 1, 1e6, true, "rounds of one measurement at most"},
            [](auto& o) -> auto& { return o.measure.max_rounds; }),
      entry({"measure.target_noise", "share of 1", 0, 1, true,
             "stop when the 95 % interval of the median is this narrow (half its width)"},
            [](auto& o) -> auto& { return o.measure.target_noise; }),
      entry({"measure.time_limit_ms", "ms", 1, 3.6e6, true, "time for all rounds of one shape"},
            [](auto& o) -> auto& { return o.measure.time_limit; }),
      entry({"measure.min_batch_us", "us", 0, 1e7, true, "calls are timed in batches that last at least this long"},
            [](auto& o) -> auto& { return o.measure.min_batch; }),
      entry({"measure.baseline_share", "share of 1", 0, 1, true,
             "baselines sit out a round while they used more of the time than this"},
            [](auto& o) -> auto& { return o.measure.baseline_share; }),
      entry({"measure.min_baseline_rounds", "rounds", 1, 1e6, true, "rounds that baselines take part in at least"},
            [](auto& o) -> auto& { return o.measure.min_baseline_rounds; }),
      entry({"measure.decided_noise", "share of 1", 0, 1, true,
             "noise that is enough where every baseline is clearly slower or clearly faster"},
            [](auto& o) -> auto& { return o.measure.decided_noise; }),
      entry({"measure.settle_rounds", "rounds", 1, 1e6, true,
             "rounds after which timing stops when the time limit could not reach target_noise"},
            [](auto& o) -> auto& { return o.measure.settle_rounds; }),
      entry({"judge.call_limit_ms", "ms", 1, 3.6e6, true,
             "a call may take this long and 20 times the naive kernel's time before it counts as hung"},
            [](auto& o) -> auto& { return o.call_limit; }),
      entry({"judge.soak_seconds", "s", 0, 3.6e3, true,
             "further checked calls of a kernel before it is called certified"},
            [](auto& o) -> auto& { return o.soak_seconds; }),
      entry({"judge.timed_data_sets", "data sets", 1, 1000, true, "different data that timed calls draw from"},
            [](auto& o) -> auto& { return o.timed_data_sets; }),
  };
  return all;
}

std::string settings_key(const JudgeOptions& options) {
  std::string text;
  for (const auto& one : judge_settings())
    if (one.facts.in_key) text += fmt::format("|{}={}", one.facts.name, one.get(options));
  return text;
}

}  // namespace kerf
