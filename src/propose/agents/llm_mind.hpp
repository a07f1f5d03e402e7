#pragma once
// Language models as a mind: prompts from what the search knows, kernels from what the models answer, over several
// turns.

#include <memory>
#include <vector>

#include "llm/budget.hpp"
#include "llm/chat.hpp"
#include "llm/client.hpp"
#include "propose/agents/agent_task.hpp"
#include "propose/agents/context.hpp"
#include "propose/agents/prompt_population.hpp"
#include "propose/agents/select.hpp"
#include "propose/proposer.hpp"

namespace kerf::agents {

inline constexpr const char* kLlmMind = "llm";

struct EnsembleModel {
  std::unique_ptr<llm::ChatModel> model;
  llm::ModelSpec spec;
};

/// What the mind borrows for its life.
struct LlmTools {
  const llm::Budget& budget;   ///< says when it has nothing left to spend
  PromptPopulation& prompts;   ///< used by the mind alone while it lives
  SelectContext context = {};  ///< what is shown from memory; none without it
  SkillOffer skills = {};      ///< a model chooses from them; a share of the questions goes without any
  std::string family = {};     ///< of the task's operators: what skills that are written down are for; "": none are
};

/// Operations: start and draft (no parent), refine. A kernel of its own that was refused is mended first, in the
/// conversation that it came from. With several models each question goes to the one with the most improvement per
/// cost. Every few answers a model is asked for a new variant of the prompt's sections; that exchange is kept with the
/// next proposal. Models also choose skills, and write one down where a line of kernels became faster.
std::unique_ptr<Proposer> make_llm_mind(AgentTask task, std::vector<EnsembleModel> models, const LlmTools& tools);

}  // namespace kerf::agents
