#pragma once
// The task of a run as it was when the run began, and the kernel that a command is about.

#include <string>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"
#include "report/run_view.hpp"

namespace kerf::cli {

/// From the facts "task_source" and "task_files".
Result<Task> task_of_run(const report::RunView& run);
/// The same from texts: `files` is the JSON of the fact (or "").
Result<Task> task_from_texts(const std::string& source, const std::string& files, const std::string& name);

/// The named step ("": the best), which must have passed every gate, with its kernel and values.
struct Chosen {
  std::int64_t step = 0;
  Candidate candidate;
  Bindings tunables;
};
Result<Chosen> choose_kernel(const report::RunView& run, const std::string& step);

}  // namespace kerf::cli
