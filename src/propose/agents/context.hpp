#pragma once
// Knowledge from outside of the run that is shown with a question: where experiences and skills enter prompts.

#include <functional>
#include <string>
#include <vector>

#include "propose/proposer.hpp"

namespace kerf::agents {

struct ContextItem {
  std::string id;    ///< kept with the step, so that credit can be traced
  std::string kind;  ///< "experience", "skill", "api"
  std::string title;
  std::string text;  ///< untrusted: it stands in the prompt as data
};

/// Chooses what is shown with a question; none is a choice too. Thread-safe.
using SelectContext = std::function<std::vector<ContextItem>(const ProposalRequest& request)>;

}  // namespace kerf::agents
