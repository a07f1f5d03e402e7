#pragma once
// Which memory a command works with.

#include <memory>
#include <string>

#include "app/cli/environment.hpp"
#include "base/result.hpp"
#include "memory/memory_store.hpp"
#include "memory/prompt_store.hpp"
#include "skill/library.hpp"

namespace kerf::cli {

inline constexpr const char* kMemoryHelp =
    "Where experience is kept (default: memory.db in the user's data folder), or off";

inline constexpr const char* kSkillsHelp = "Which skills may be used: verified (default), all (candidates too), or off";

/// The file that --memory names, "": the user's own; empty when it is off or there is no place for one.
std::filesystem::path memory_file(const std::string& option, const Environment& environment);

/// --memory as a run keeps it, wherever it is resumed.
std::string kept_memory(const std::string& option);

/// The memory of a search; null when it is off. A file that was asked for by name and cannot be used is an error; the
/// user's own is then left out with a warning.
Result<std::unique_ptr<MemoryStore>> open_memory(const std::string& option, const Environment& environment,
                                                 Console& console);

/// The skills in the same file, likewise.
Result<std::unique_ptr<SkillStore>> open_skills(const std::string& option, const Environment& environment);

/// The kept prompts in the same file, likewise.
Result<std::unique_ptr<PromptStore>> open_prompts(const std::string& option, const Environment& environment);

}  // namespace kerf::cli
