#pragma once
// Kernels of a task that was a PyTorch model file, as Python that PyTorch's users run: the kernels are compiled from
// the files themselves at their first use, what they are not for is computed by the original.

#include <string>
#include <vector>

#include "export/export.hpp"

namespace kerf::exporting {

/// Of the export's `--format`: "kernelbench" (one file with ModelNew) and "torch" (a package).
std::vector<std::string> model_format_names();

/// One Python file with the class ModelNew, as KernelBench's evaluator takes it. `record` is what the import kept
/// (pytorch::ImportedModel::record). invalid_input says what of the model cannot be exported.
Result<std::string> kernelbench_file(const Exporter& exporter, const Winner& winner, const std::string& record);

/// The files of a package: a drop-in module, its custom operator, a check program, a README. `package` is the name of
/// the folder they go to, by which the package is imported.
Result<std::vector<File>> torch_package(const Exporter& exporter, const Winner& winner, const std::string& record,
                                        const std::string& package);

}  // namespace kerf::exporting
