#pragma once
// A new variant of the prompt's sections, written by a model as exact edits of an old one.

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "propose/agents/prompt.hpp"
#include "propose/agents/prompt_population.hpp"

namespace kerf::agents {

/// The sections of prompts/sections.
PromptSections seed_sections();

/// "evolve-<version of the templates>-<variant that is edited>". `recent`: what became of the latest answers, one line
/// each, the newest last.
Result<Prompt> evolve_prompt(const PromptVariant& parent, std::span<const std::string> recent,
                             const PromptOptions& options);

/// The sections with the answer's edits; the error says what is wrong with it.
Result<PromptSections> evolved_sections(std::string_view reply, const PromptVariant& parent);

/// Of a prompt's id: "refine" and "p1a2b3c4" in "refine-5e6f7a8b-p1a2b3c4"; the variant is "" in ids without one.
std::string prompt_stage(std::string_view prompt_id);
std::string prompt_variant(std::string_view prompt_id);

}  // namespace kerf::agents
