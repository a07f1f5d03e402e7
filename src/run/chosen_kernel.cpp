#include "run/chosen_kernel.hpp"

#include <fmt/format.h>

#include "judge/judge.hpp"

namespace kerf {

Result<ChosenKernel> choose_kernel(const RunView& run, const std::string& step) {
  KERF_TRY(const auto number, find_step(run, step.empty() ? "best" : step));
  const Step& chosen = run.step(number);
  const Measurement* measurement = measurement_of(chosen);
  if (measurement == nullptr || !(measurement->speedup.ratio > 0))
    return fail(Errc::invalid_input, fmt::format("step {} did not pass every gate ({}); choose another", number,
                                                 outcome_name(chosen.evaluation.outcome)));
  if (run.refuted.contains(number))
    return fail(Errc::invalid_input,
                fmt::format("step {} was refused when it was measured again; choose another", number));
  ChosenKernel result;
  result.step = number;
  KERF_TRY(result.candidate, parse_candidate(chosen.name, chosen.source));
  if (result.candidate.target.empty()) result.candidate.target = chosen.evaluation.target;
  KERF_TRY(result.tunables, resolve_tunables(result.candidate, chosen.tunables));
  return result;
}

}  // namespace kerf
