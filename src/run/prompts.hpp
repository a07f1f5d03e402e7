#pragma once
// The prompts of a run as it left them: every variant with its credit, rebuilt from the run's steps.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "propose/agents/prompt_population.hpp"
#include "store/run_store.hpp"

namespace kerf {

/// Adds the variants that came about in the run, in their order. Their credit comes with the steps.
Status restore_prompts(const RunStore& run, agents::PromptPopulation& prompts);

/// Whose answers figures are of: what the run knows of its prompts, or what it adds to that.
enum class FiguresOf { all_runs, this_run };

/// All variants of a run with their credit by the rule that it used. An error for runs that asked no language model.
Result<agents::PromptPopulation> prompts_of(const RunStore& run, FiguresOf figures = FiguresOf::all_runs);

/// The variant that `text` means: its id, the beginning of it, or "seed". Errors name what there is.
Result<const agents::PromptVariant*> find_prompt(const agents::PromptPopulation& prompts, const std::string& text);

/// How the kernels of one variant of the prompt fared.
struct PromptTally {
  std::string variant;  ///< id
  std::int64_t first_step = 0, last_step = 0;
  std::size_t answers = 0, passed = 0;
  double mean_gain = 0, best_gain = 0;  ///< natural logarithm of the speedup over what was shown, at least 0
  std::vector<std::pair<std::int64_t, double>> moves{};  ///< the mean gain after each answer, with its step
};
std::vector<PromptTally> tally_prompts(const std::vector<Step>& steps);  ///< by first use; empty without prompts

}  // namespace kerf
