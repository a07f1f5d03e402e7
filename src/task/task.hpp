#pragma once
// Reads tasks and holds candidates to them.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"

namespace kerf {

/// Reads a task file and the files it names (C++ reference, baseline kernels; relative to its folder). Errors start
/// with file:line:column where there is such a place.
Result<Task> load_task(const std::filesystem::path& path);

/// The same for text in memory. `file` is the name used in messages; its stem is the task's name when the text has
/// none.
Result<Task> parse_task(std::string_view text, const std::filesystem::path& folder, const std::string& file);

/// Ok when the candidate's header fits the task: its launches name existing buffers and pass every output, its
/// expressions use only shape symbols and tunables, its own names collide with nothing. Compiles and runs nothing.
Status check_against(const Task& task, const Candidate& candidate);

/// Names of the shape symbols, sorted.
std::vector<std::string> symbols_of(const Task& task);

}  // namespace kerf
