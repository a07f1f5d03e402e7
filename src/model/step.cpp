#include "model/step.hpp"

#include <array>
#include <map>
#include <utility>

namespace kerf {
namespace {

constexpr std::array<std::pair<Stage, std::string_view>, 4> kStages{
    {{Stage::start, "start"}, {Stage::search, "search"}, {Stage::tune, "tune"}, {Stage::final, "final"}}};

}  // namespace

std::string_view stage_name(Stage stage) {
  for (const auto& [known, name] : kStages)
    if (known == stage) return name;
  return "";
}

std::optional<Stage> stage_from_name(std::string_view name) {
  for (const auto& [stage, known] : kStages)
    if (known == name) return stage;
  return std::nullopt;
}

bool is_trial(const Step& step) { return step.stage == Stage::tune && step.operation == kTrialOperation; }
bool is_confirmation(const Step& step) { return step.stage == Stage::final; }
bool is_duplicate(const Step& step) { return failed_gate(step.evaluation.outcome) == Gate::duplicate; }

std::set<std::int64_t> refuted_steps(std::span<const Step> steps) {
  std::set<std::int64_t> refuted;
  for (const Step& step : steps)
    if (is_confirmation(step) && !step.parents.empty() && !std::holds_alternative<Measurement>(step.evaluation.outcome))
      refuted.insert(step.parents.front());
  return refuted;
}

std::vector<Step> with_refusals(std::vector<Step> steps) {
  std::map<std::int64_t, Evaluation> refusals;
  for (const Step& step : steps)
    if (!refuted_steps(std::span(&step, 1)).empty()) refusals.insert_or_assign(step.parents.front(), step.evaluation);
  for (Step& step : steps)
    if (const auto refusal = refusals.find(step.number); refusal != refusals.end()) {
      step.evaluation = refusal->second;
      step.cell.clear();
      step.kept = false;
    }
  return steps;
}

bool is_fallback(const Step& step) { return step.proposer == kBaselineProposer; }

}  // namespace kerf
