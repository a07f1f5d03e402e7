#pragma once
// What every agent is told of the task and the machine, as text; the same for language models and agent programs.

#include <string>
#include <vector>

namespace kerf::agents {

struct AgentTask {
  std::string name;
  std::string source;              ///< the task's TOML text
  std::string target;              ///< as in the candidate's header
  std::string extension;           ///< of kernel files: ".cpp"
  std::string fence;               ///< language of its code blocks: "cpp"
  bool host_entry = false;         ///< an entry point instead of launch lines
  std::string entry;               ///< its declaration
  std::vector<std::string> facts;  ///< of language, device and limits, one a line
  std::string example;             ///< the plain kernel of the task; "" where there is none
};

/// The facts as a list of points.
std::string facts_text(const AgentTask& task);

}  // namespace kerf::agents
