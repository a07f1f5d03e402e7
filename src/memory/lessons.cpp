#include "memory/lessons.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "memory/limits.hpp"

namespace kerf::memory {
namespace {

constexpr std::size_t kMostKernels = 24, kMostFailures = 8;  // of one run

/// What kernels of the run are compared by; 0 when it was not measured.
double speed_of(const Step& step) {
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  return measured != nullptr ? std::max(0.0, compared_speedup(*measured).ratio) : 0;
}

bool teaches(const Step& step) { return !is_trial(step) && !is_duplicate(step) && !is_fallback(step); }

/// Without what it is compared by.
Experience experience_from(const Step& step, const RunOrigin& origin, Recipe recipe) {
  Experience one;
  one.task = origin.task;
  one.task_id = origin.task_id;
  one.signature = origin.signature;
  one.recipe = std::move(recipe);
  one.outcome = outcome_name(step.evaluation.outcome);
  one.gate = outcome_gate(step.evaluation.outcome);
  one.message = outcome_message(step.evaluation.outcome).substr(0, kLongestText);
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
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Experience& a, const Experience& b) { return a.share > b.share; });
  std::set<std::string> compositions;
  std::stable_partition(kernels.begin(), kernels.end(),
                        [&](const Experience& one) { return compositions.insert(composition(one.recipe)).second; });
  if (kernels.size() > kMostKernels) kernels.resize(kMostKernels);
  return kernels;
}

std::vector<MemoryUse> uses_of(const std::vector<Step>& steps, const RunOrigin& origin, Rule rule) {
  std::vector<MemoryUse> uses;
  double best = 0;
  for (const Step& step : steps) {
    if (!teaches(step) || is_confirmation(step)) continue;
    const double speed = speed_of(step);
    for (const std::string& context : step.provenance.context) {
      if (!context.starts_with(kContextPrefix)) continue;
      MemoryUse use{
          origin.run, step.number, context.substr(kContextPrefix.size()), ValueStage::draft, origin.signature.family,
          0};
      use.stage = best > 0 ? ValueStage::refine : ValueStage::draft;
      use.reward = best > 0 ? refine_reward(speed, best, rule) : draft_reward(step.evaluation.outcome, rule);
      uses.push_back(std::move(use));
    }
    best = std::max(best, speed);
  }
  return uses;
}

}  // namespace

Lessons lessons_of(const std::vector<Step>& steps, const RunOrigin& origin, const RecipeOf& recipe_of, Rule rule) {
  Lessons lessons;
  lessons.uses = uses_of(steps, origin, rule);
  double best = 0;
  for (const Step& step : steps)
    if (teaches(step)) best = std::max(best, speed_of(step));
  std::map<std::string, Experience> kernels;
  std::set<std::string> failed;
  std::vector<Experience> failures;
  for (const Step& step : steps) {
    if (!teaches(step) || step.genome.empty()) continue;
    auto recipe = recipe_of(step);
    if (!recipe) continue;
    Experience one = experience_from(step, origin, *std::move(recipe));
    if (const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
        measured != nullptr && speed_of(step) > 0) {
      one.kind = kKernelKind;
      one.speedup = measured->speedup.ratio;
      one.share = std::clamp(speed_of(step) / best, 1e-6, 1.0);
      if (const ShapeMeasurement* shape = main_shape(*measured)) one.time_us = shape->time.median;
      one.values = first_values(one);
      kernels.insert_or_assign(one.id, std::move(one));
    } else if (measured == nullptr && failures.size() < kMostFailures &&
               failed.insert(composition(one.recipe) + one.gate).second) {
      one.kind = kFailureKind;
      one.values = first_values(one);
      failures.push_back(std::move(one));
    }
  }
  std::vector<Experience> all;
  for (auto& [id, kernel] : kernels) all.push_back(std::move(kernel));
  lessons.experiences = best_of(std::move(all));
  for (Experience& failure : failures)
    if (!kernels.contains(failure.id)) lessons.experiences.push_back(std::move(failure));
  return lessons;
}

}  // namespace kerf::memory
