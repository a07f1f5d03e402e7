#include "model/step.hpp"

#include <array>
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
bool is_fallback(const Step& step) { return step.proposer == kBaselineProposer; }

}  // namespace kerf
