#include "search/variants.hpp"

#include <fmt/format.h>

#include <utility>

namespace kerf {

Planned variant_of(const SearchState& state, std::int64_t number, Stage stage, const char* operation,
                   std::string change) {
  const Step& old = state.step(number);
  Planned again{{}, state.candidate(number)};
  Step& step = again.step;
  step.stage = stage;
  step.proposer = old.proposer;
  step.operation = operation;
  step.change = std::move(change);
  step.parents = {old.number};
  step.name = old.name;
  step.source = old.source;
  step.genome = old.genome;
  step.tunables = old.tunables;
  return again;
}

Result<std::optional<Planned>> tuned_variant(const SearchState& state, std::int64_t number, const Bindings& tunables) {
  std::string change = "tuned";
  for (const auto& [name, value] : tunables)
    if (const auto old = state.step(number).tunables.find(name);
        old != state.step(number).tunables.end() && old->second != value)
      change += fmt::format(" {} {} -> {}", name, old->second, value);
  Planned planned = variant_of(state, number, Stage::tune, "tune", change);
  const auto source = with_defaults(planned.step.source, tunables);
  if (!source) return std::optional<Planned>{};
  KERF_TRY(Candidate candidate, parse_candidate(planned.step.name, *source));
  candidate.target = planned.candidate.target;
  planned.candidate = std::move(candidate);
  planned.step.source = *source;
  planned.step.tunables = tunables;
  return std::optional<Planned>(std::move(planned));
}

Evaluation duplicate_of(const SearchState& state, std::int64_t twin, const Planned& planned) {
  Evaluation evaluation = state.step(twin).evaluation;
  evaluation.candidate = planned.candidate.name;
  evaluation.candidate_id = planned.candidate.id;
  evaluation.tunables = planned.step.tunables;
  evaluation.cell.clear();
  evaluation.tiers.clear();
  evaluation.outcome = Rejected{Gate::duplicate, fmt::format("the compiled code is that of step {}", twin)};
  return evaluation;
}

}  // namespace kerf
