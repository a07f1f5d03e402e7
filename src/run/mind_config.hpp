#pragma once
// Which minds a run asks and what they may spend: kept in run.toml, without anything secret.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "llm/budget.hpp"
#include "llm/client.hpp"
#include "propose/agents/command_mind.hpp"
#include "propose/agents/llm_mind.hpp"
#include "propose/agents/prompt_population.hpp"
#include "propose/synth/synthesiser.hpp"

namespace kerf {

using agents::kCommandMind;
using agents::kLlmMind;
using synth::kBuiltinMind;

struct MindConfig {
  std::vector<std::string> names{kBuiltinMind};  ///< in the order in which they are asked
  std::vector<llm::ModelSpec> models;            ///< of the llm mind
  llm::BudgetLimits budget;                      ///< of all models together, over all resumed parts of a run
  std::string command;                           ///< of the command mind: a shell command line
  double command_seconds = 600;                  ///< most time for one kernel
  agents::PromptRule prompt_rule = agents::PromptRule::mean;  ///< how prompts of the llm mind evolve
  bool shared_prompts =
      true;               ///< prompts begin with what earlier runs for the target found, and are left for later ones
  bool knowledge = true;  ///< agents are shown what the target's language offers (knowledge/)

  bool has(std::string_view name) const;
  bool has_agent() const;  ///< one that writes kernels of any task
  bool operator==(const MindConfig&) const = default;
};

/// "builtin,llm" to names; an unknown one is an error with those that exist.
Result<std::vector<std::string>> parse_mind_names(const std::string& text);

/// Whether the minds have what they need: models, prices where money is limited, a command.
Status check_minds(const MindConfig& minds);

/// The lines of run.toml, which ends with them: the models are tables.
std::string to_toml(const MindConfig& minds);
/// From the whole text of run.toml; the default for runs that were written before there was a choice.
Result<MindConfig> minds_from_toml(const std::string& text);

}  // namespace kerf
