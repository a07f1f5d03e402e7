#pragma once
// A skill from what made a line of kernels faster, written by a model.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/step.hpp"
#include "propose/agents/agent_task.hpp"
#include "propose/agents/prompt.hpp"
#include "skill/skill.hpp"

namespace kerf::agents {

/// A kernel and what became of it.
struct Improved {
  std::string first, last;  ///< sources
  double ratio = 1;         ///< of their speeds
};

/// Finds lines of kernels of the models that became at least 1.2 times as fast as they began, and as the baseline.
/// Takes steps in order. Not thread-safe.
class Lineages {
 public:
  /// The line that this step completes; each line is handed out again only when it became faster by as much once more.
  std::optional<Improved> observe(const Step& step);

 private:
  struct Line {
    std::string first;           ///< source
    double began = 0, told = 0;  ///< log speedups: of the first, and of the last that was handed out
  };
  std::map<std::int64_t, std::int64_t> root_;  // by step
  std::map<std::int64_t, Line> lines_;         // by root
};

/// "summarise-<version of the templates>". `family`: the operator that costs most.
Result<Prompt> summary_prompt(const AgentTask& task, const Improved& improved, const std::string& family,
                              const PromptOptions& options);

/// The skill that the answer describes, for this target and family; its texts are cut to what a skill may have. The
/// error says what is missing.
Result<skill::Skill> summarised_skill(std::string_view reply, const std::string& target, const std::string& family);

}  // namespace kerf::agents
