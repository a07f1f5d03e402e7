#pragma once
// PyTorch model files in the place of task files.

#include <memory>
#include <string>

#include "app/cli/environment.hpp"
#include "pytorch/bridge_server.hpp"
#include "pytorch/import_model.hpp"
#include "run/run_task.hpp"

namespace kerf::cli {

struct ModelTask {
  TaskText text;  ///< its source is what a run keeps: resuming, reports and exports need no Python
  pytorch::ImportedModel model;
};

/// Imports the file for `target` ("": any) with the Python of KERF_PYTHON, or the first one that has PyTorch.
Result<ModelTask> read_model_task(const std::string& path, const Environment& environment, const std::string& target);

/// Imports model files; when there are several, with one Python process for all. Thread-safe once it is made.
class ModelReader {
 public:
  /// `paths`: all that will be asked for; those that are no model files do not count.
  static Result<std::unique_ptr<ModelReader>> make(const std::vector<std::string>& paths,
                                                   const Environment& environment);
  Result<ModelTask> read(const std::string& path, const std::string& target);

 private:
  explicit ModelReader(const Environment& environment) : environment_(environment) {}
  const Environment& environment_;
  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<pytorch::BridgeServer> server_;  ///< null: a process for every file
};

/// What was imported, what stays with PyTorch, what was left out; a few lines.
std::string import_text(const pytorch::ImportedModel& model, const Style& style);

}  // namespace kerf::cli
