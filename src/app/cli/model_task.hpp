#pragma once
// PyTorch model files in the place of task files.

#include <string>

#include "app/cli/environment.hpp"
#include "pytorch/import_model.hpp"
#include "run/run_task.hpp"

namespace kerf::cli {

struct ModelTask {
  TaskText text;  ///< its source is what a run keeps: resuming, reports and exports need no Python
  pytorch::ImportedModel model;
};

/// Imports the file for `target` ("": any) with the Python of KERF_PYTHON, or the first one that has PyTorch.
Result<ModelTask> read_model_task(const std::string& path, const Environment& environment, const std::string& target);

/// What was imported, what stays with PyTorch, what was left out; a few lines.
std::string import_text(const pytorch::ImportedModel& model, const Style& style);

}  // namespace kerf::cli
