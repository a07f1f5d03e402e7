#pragma once
// Questions to a model, from the templates under prompts/ and what is known of the search, within the model's context.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "llm/chat.hpp"
#include "propose/agents/agent_task.hpp"
#include "propose/agents/context.hpp"
#include "propose/agents/prompt_population.hpp"
#include "propose/proposer.hpp"

namespace kerf::agents {

/// A part of a prompt that may be cut when there is too little room.
struct Section {
  std::string name, text;
};

/// Cuts the largest sections, all to the same size, until they fit into `bytes` together. What is left out stands in
/// the middle of the section, with a line that says so.
void fit_sections(std::vector<Section>& sections, std::size_t bytes);

/// Items from elsewhere, each between marks that its own text cannot close. `bytes` > 0: cut item by item to about so
/// much in all, so that no mark is lost.
std::string context_text(const std::vector<ContextItem>& items, std::size_t bytes = 0);

/// A question ready to be asked.
struct Prompt {
  std::string id;  ///< stage, version of the templates, variant of the sections: "refine-1a2b3c4d-p5e6f7a8"
  std::vector<llm::Message> messages;
};

/// What a question is made with, beyond what the search says.
struct PromptOptions {
  std::int64_t tokens = 24576;             ///< of the model's context that the messages may take
  const PromptVariant* variant = nullptr;  ///< its sections are used; null: those of prompts/sections
  std::vector<ContextItem> context{};      ///< what is known from elsewhere
};

/// No feasible kernel yet, or a fresh start: no parent.
Result<Prompt> draft_prompt(const AgentTask& task, const ProposalRequest& request, const PromptOptions& options);
/// The parent made faster.
Result<Prompt> refine_prompt(const AgentTask& task, const ProposalRequest& request, const PromptOptions& options);
/// The conversation goes on after its last answer was refused. Older turns are left out when there is too little room;
/// `unreadable`: why no kernel was found in that answer, "" when one was.
Result<Prompt> repair_prompt(const AgentTask& task, const std::vector<llm::Message>& conversation,
                             const KernelRecord& failure, const std::string& unreadable, const PromptOptions& options);

/// SHA-256 over all templates.
std::string prompt_version();

/// Expands a file of prompts/ by itself, for agent programs; `values` as in the templates. `sections` take the place of
/// the files of that name in prompts/sections.
Result<std::string> expand_prompt(const std::string& file, std::map<std::string, std::string, std::less<>> values,
                                  const PromptSections& sections = {});

/// A question of one message from prompts/<stage>.md; the values named by `cuttable` are cut to fit.
Result<Prompt> single_prompt(const std::string& stage, std::map<std::string, std::string, std::less<>> values,
                             const std::vector<std::string>& cuttable, const PromptOptions& options);

}  // namespace kerf::agents
