#pragma once
// Kernels beside the PyTorch models that they were made from, as commands ask for it and show it.

#include <filesystem>
#include <string>

#include "app/cli/environment.hpp"
#include "pytorch/compare.hpp"
#include "run/run_view.hpp"

namespace kerf::cli {

struct PyTorchOptions {
  double seconds = 10;      ///< of timed rounds
  bool compile = true;      ///< torch.compile too
  std::uint64_t seed = 42;  ///< KernelBench's
};

/// Where PyTorch runs for a target; invalid_input for a target that it has no device for.
Result<std::string> torch_device_of(const std::string& target);

/// A model file and a file that defines ModelNew.
Result<pytorch::Comparison> compare_files(const std::filesystem::path& model, const std::filesystem::path& kernel,
                                          const std::string& target, const PyTorchOptions& options,
                                          const Environment& environment);

/// The best kernel of a run as `kerf export --format kernelbench` writes it, beside the model that
/// the run keeps. What comes out is kept with the run.
Result<pytorch::Comparison> compare_run(const std::filesystem::path& folder, const PyTorchOptions& options,
                                        const Environment& environment);
/// Whether a run has all that this takes: a model that is the task as a whole, a winner that is not the plain kernel,
/// and a target that PyTorch has a device for.
bool can_be_compared(const RunView& run);

/// A few lines for people; the first in colour.
std::string comparison_text(const pytorch::Comparison& comparison, const Style& style);
/// That which a run keeps, with a heading; "" when it has none.
std::string kept_comparison_text(const RunView& run, const Style& style);

}  // namespace kerf::cli
