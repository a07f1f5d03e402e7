#include "memory/lessons.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "memory/limits.hpp"

namespace kerf::memory {
namespace {

constexpr std::size_t kMostKernels = 24, kMostFailures = 8;  // of one run
constexpr int kMostWritten = 4;  // kernels without a recipe: those of one run are much like each other

/// What kernels of the run are compared by; 0 when it was not measured.
double speed_of(const Step& step) {
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  return measured != nullptr ? std::max(0.0, compared_speedup(*measured).ratio) : 0;
}

bool teaches(const Step& step) { return !is_trial(step) && !is_duplicate(step) && !is_fallback(step); }

/// The step whose kernel was measured again; of others the step itself. A confirmation does not say who wrote it.
const Step* first_of(const std::vector<Step>& steps, const Step* step) {
  if (!is_confirmation(*step) || step->parents.empty()) return step;
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const Step& other) { return other.number == step->parents.front(); });
  return found == steps.end() ? step : &*found;
}

/// Of the kernels that were measured again, else of all: what the run says of its best.
double best_speed(const std::vector<Step>& steps) {
  double best = 0, confirmed = 0;
  for (const Step& step : steps) {
    if (!teaches(step)) continue;
    double& most = is_confirmation(step) ? confirmed : best;
    most = std::max(most, speed_of(step));
  }
  return confirmed > 0 ? confirmed : best;
}

/// Without what it is compared by.
Experience experience_from(const Step& step, const Outcome& outcome, const RunOrigin& origin, Recipe recipe) {
  Experience one;
  one.task = origin.task;
  one.task_id = origin.task_id;
  one.signature = origin.signature;
  one.recipe = std::move(recipe);
  set_source(one, step.source);
  one.outcome = outcome_name(outcome);
  one.gate = outcome_gate(outcome);
  one.message = outcome_message(outcome).substr(0, kLongestText);
  one.run = origin.run;
  one.step = step.number;
  one.mind = step.proposer;
  one.operation = step.operation;
  one.kerf_version = origin.kerf_version;
  one.recorded_ms = origin.recorded_ms;
  one.id = experience_id(one);
  return one;
}

std::vector<Experience> best_of(std::vector<Experience> kernels) {
  std::stable_sort(kernels.begin(), kernels.end(), [](const Experience& a, const Experience& b) {
    return a.share != b.share ? a.share > b.share : a.confirmed && !b.confirmed;
  });
  int written = 0;
  std::erase_if(kernels, [&](const Experience& one) { return one.recipe.genes.empty() && ++written > kMostWritten; });
  std::set<std::string> compositions;
  std::stable_partition(kernels.begin(), kernels.end(),
                        [&](const Experience& one) { return compositions.insert(composition(one.recipe)).second; });
  if (kernels.size() > kMostKernels) kernels.resize(kMostKernels);
  return kernels;
}

/// The mean of a run's rewards in a stage, without one of them.
struct StageMean {
  double count = 0, sum = 0;
  double without(double reward) const { return count > 1 ? (sum - reward) / (count - 1) : 0; }
};

std::vector<MemoryUse> uses_of(const std::vector<Step>& steps, const RunOrigin& origin, Rule rule) {
  StepRewards rewards(rule);
  std::vector<std::pair<const Step*, StepRewards::Reward>> rewarded;
  std::map<ValueStage, StageMean> means;
  for (const Step& step : steps)
    if (const auto reward = rewards.observe(step)) {
      rewarded.emplace_back(&step, *reward);
      means[reward->stage].count += 1;
      means[reward->stage].sum += reward->value;
    }
  std::vector<MemoryUse> uses;
  for (const auto& [step, reward] : rewarded) {
    const bool shown = reward.stage == ValueStage::draft_shown || reward.stage == ValueStage::refine_shown;
    const double usual = shown && rule != Rule::published ? means[reward.stage].without(reward.value) : 0;
    for (const std::string& context : step->provenance.context)
      if (context.starts_with(kContextPrefix))
        uses.push_back({origin.run, step->number, context.substr(kContextPrefix.size()), reward.stage,
                        origin.signature.family, reward.value - usual});
  }
  return uses;
}

/// Kernels of the builtin mind are known by their recipes, those of agents by their text; none: it teaches nothing.
std::optional<Recipe> recipe_or_none(const Step& step, const RecipeOf& recipe_of) {
  if (!step.genome.empty()) return recipe_of(step);
  return was_written(step) ? std::optional(Recipe{}) : std::nullopt;
}

}  // namespace

bool was_written(const Step& step) { return !step.provenance.prompt.empty(); }

std::optional<StepRewards::Reward> StepRewards::observe(const Step& step) {
  if (!teaches(step) || is_confirmation(step)) return std::nullopt;
  const double speed = speed_of(step), best = best_;
  if (speed > 0) speeds_[step.number] = speed;
  best_ = std::max(best_, speed);
  if (!was_written(step))
    return best > 0 ? Reward{ValueStage::refine, refine_reward(speed, best, rule_)}
                    : Reward{ValueStage::draft, draft_reward(step.evaluation.outcome, rule_)};
  double parent = 0;
  for (const std::int64_t number : step.parents)
    if (const auto found = speeds_.find(number); found != speeds_.end()) parent = std::max(parent, found->second);
  if (parent == 0) return Reward{ValueStage::draft_shown, draft_reward(step.evaluation.outcome, rule_)};
  const double against_best = refine_reward(speed, best, rule_);
  if (rule_ == Rule::published) return Reward{ValueStage::refine_shown, against_best};
  return Reward{ValueStage::refine_shown, (against_best + refine_reward(speed, parent, rule_)) / 2};
}

Lessons lessons_of(const std::vector<Step>& steps, const RunOrigin& origin, const RecipeOf& recipe_of, Rule rule,
                   const Presented& presented) {
  Lessons lessons;
  lessons.uses = uses_of(steps, origin, rule);
  const double best = presented.best > 0 ? presented.best : best_speed(steps);
  std::map<std::string, Experience> kernels;
  std::set<std::string> failed;
  std::vector<Experience> failures;
  for (const Step& step : steps) {
    if (!teaches(step)) continue;
    const Step& made = *first_of(steps, &step);
    auto recipe = recipe_or_none(made, recipe_of);
    if (!recipe) continue;
    Experience one = experience_from(made, step.evaluation.outcome, origin, *std::move(recipe));
    if (const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
        measured != nullptr && speed_of(step) > 0) {
      const double speed = presented.speedup_of ? presented.speedup_of(step) : 0;
      one.kind = kKernelKind;
      one.speedup = speed > 0 ? speed : measured->speedup.ratio;
      one.share = std::clamp((speed > 0 ? speed : speed_of(step)) / best, 1e-6, 1.0);
      one.confirmed = is_confirmation(step);
      if (const ShapeMeasurement* shape = main_shape(*measured)) one.time_us = shape->time.median;
      if (const auto known = kernels.find(one.id); known != kernels.end()) keep_confirmed(known->second, one);
      one.values = first_values(one);
      kernels.insert_or_assign(one.id, std::move(one));
    } else if (measured == nullptr) {
      if (is_confirmation(step)) kernels.erase(one.id);  // it did not stand
      if (failures.size() >= kMostFailures || !failed.insert(composition(one.recipe) + one.gate).second) continue;
      one.kind = kFailureKind;
      one.source.clear();  // what went wrong is told by the message
      one.values = first_values(one);
      failures.push_back(std::move(one));
    }
  }
  std::vector<Experience> all;
  for (const auto& [id, kernel] : kernels) all.push_back(kernel);
  lessons.experiences = best_of(std::move(all));
  for (Experience& failure : failures)
    if (!kernels.contains(failure.id)) lessons.experiences.push_back(std::move(failure));
  return lessons;
}

}  // namespace kerf::memory
