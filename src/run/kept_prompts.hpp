#pragma once
// Prompts from run to run: what a run begins with, and what it leaves for the next one of its target.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "memory/prompt_store.hpp"
#include "propose/agents/prompt_population.hpp"
#include "store/run_store.hpp"

namespace kerf {

inline constexpr const char* kPromptsFact = "prompts";  ///< of a run: what it began with, JSON

/// The variants a run begins with: up to three that did better than the seed, by a lower bound of their gain, and one
/// that was hardly tried yet. The seed is among them where it was used. Figures count for at most eight answers and are
/// set against the best of them, which is the level that the run's own gains will be taken from.
std::vector<agents::PromptVariant> prompts_to_begin_with(const std::vector<KeptPrompt>& kept,
                                                         const agents::PromptSections& seed);

/// As a run keeps them, and back.
std::string to_json(const std::vector<agents::PromptVariant>& variants);
Result<std::vector<agents::PromptVariant>> variants_from_json(std::string_view text);

/// Leaves the variants of a run that asked language models, each with the figures of that run alone, and drops what is
/// worth least beyond the limit. Nothing for other runs.
Status keep_prompts(PromptStore& store, const RunStore& run, const std::string& target, std::int64_t wall_ms);

/// All that is kept for a target, with the figures of all runs, as the prompts of a run are looked at.
agents::PromptPopulation kept_population(const std::vector<KeptPrompt>& kept);

/// A line {"kind":"kerf prompts","schema":1}, then one variant a line.
std::string prompts_file(const std::vector<KeptPrompt>& kept);
/// Figures of elsewhere are left out: what is imported has to show here what it is worth. Errors name the line.
Result<std::vector<KeptPrompt>> parse_prompts_file(std::string_view text, std::int64_t wall_ms);

}  // namespace kerf
