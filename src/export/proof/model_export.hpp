#pragma once
// The kernels of a run that was made from a PyTorch model file, as Python: what torch_export.hpp writes, read off a run
// folder. No Python and no model file is needed.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "export/export.hpp"

namespace kerf::exporting {

/// The text of a Python file with ModelNew for KernelBench's evaluator, for the best kernel of a finished run (or that
/// of `step`: a number or the beginning of a kernel's id). invalid_input: the run was not made from a model file, has
/// no kernel that passed every gate, or is about a part of the model.
Result<std::string> kernelbench_export(const std::filesystem::path& run, const std::string& step = "");

/// The files of a PyTorch package of that name, likewise.
Result<std::vector<File>> torch_export(const std::filesystem::path& run, const std::string& package,
                                       const std::string& step = "");

}  // namespace kerf::exporting
