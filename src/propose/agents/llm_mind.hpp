#pragma once
// Language models as a mind: prompts from what the search knows, kernels from what the models answer, over several
// turns.

#include <memory>
#include <vector>

#include "llm/budget.hpp"
#include "llm/chat.hpp"
#include "llm/client.hpp"
#include "propose/agents/agent_task.hpp"
#include "propose/proposer.hpp"

namespace kerf::agents {

struct EnsembleModel {
  std::unique_ptr<llm::ChatModel> model;
  llm::ModelSpec spec;
};

/// Operations: start and draft (no parent), refine. A kernel of its own that was refused is mended first, in the
/// conversation that it came from. With several models each question goes to the one with the most improvement per
/// cost. Borrows the budget, which says when the mind has nothing left to spend.
std::unique_ptr<Proposer> make_llm_mind(AgentTask task, std::vector<EnsembleModel> models, const llm::Budget& budget);

}  // namespace kerf::agents
