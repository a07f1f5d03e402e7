#pragma once
// Tasks with the texts they were read from, so that a run keeps its task whatever becomes of the files.

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "model/task.hpp"
#include "store/run_store.hpp"

namespace kerf {

struct TaskText {
  Task task;
  std::string source;   ///< of the .toml file
  std::string origin;   ///< where it was read, for people
  std::string model{};  ///< of a task that is a PyTorch model file: pytorch::ImportedModel::record; else ""
};

/// A task file and what it names.
Result<TaskText> read_task(const std::filesystem::path& path);

/// JSON {path as the task writes it: text} of the files that the task names; "" when it names none.
std::string task_files(const Task& task);

/// The task from its texts alone: `files` is what `task_files` gave.
Result<Task> restore_task(const std::string& source, const std::string& files, const std::string& name);

/// Keeps the task in a run's facts, and reads it back.
Status store_task(RunStore& store, const TaskText& task);
Result<TaskText> stored_task(const std::map<std::string, std::string>& facts, const std::string& run);

}  // namespace kerf
