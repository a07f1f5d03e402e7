#pragma once
// Any program as a mind: it finds a folder with task, parent, feedback and instructions, and leaves a kernel there.

#include <map>
#include <memory>
#include <string>

#include "propose/agents/agent_task.hpp"
#include "propose/agents/context.hpp"
#include "propose/agents/select.hpp"
#include "propose/proposer.hpp"

namespace kerf::agents {

inline constexpr const char* kCommandMind = "command";

struct CommandOptions {
  std::string command;                             ///< given to /bin/sh in the folder
  double seconds = 600;                            ///< most time for one kernel
  std::map<std::string, std::string> environment;  ///< all that the program has
  SelectContext context{};                         ///< what it is shown from memory; none without it
  SkillOffer skills{};                             ///< what it is shown of the skills
};

/// Operations: start and draft (no parent), refine. One question at a time. The program is not sandboxed; the kernel it
/// leaves is judged like any other.
std::unique_ptr<Proposer> make_command_mind(AgentTask task, CommandOptions options);

}  // namespace kerf::agents
