#include "export/proof/model_export.hpp"

#include <fmt/format.h>

#include "export/proof/shape_winners.hpp"
#include "export/torch_export.hpp"
#include "run/chosen_kernel.hpp"
#include "run/run_task.hpp"
#include "run/run_view.hpp"
#include "run/standing.hpp"
#include "target/target.hpp"

namespace kerf::exporting {
namespace {

/// What an export borrows.
struct ModelWinner {
  TaskText text;
  std::string target;
  ChosenKernel chosen;
  std::map<std::string, Bindings> by_shape;
  std::string origin;
  const Exporter* exporter = nullptr;

  Winner winner() const { return {text.task, target, chosen.candidate, chosen.tunables, by_shape, origin}; }
};

/// "Kernel 0123abcd of step 4 in model-cuda-...; measured on NVIDIA H200: 3.10x (3.05x to 3.15x) over naive."
std::string origin_of(const RunView& run, const Step& step) {
  const Speedup speedup = measured_speedup(step);
  const std::string measured = speedup.ratio > 0 ? fmt::format("{:.3g}x ({:.3g}x to {:.3g}x) over {}", speedup.ratio,
                                                               speedup.low, speedup.high, speedup.vs)
                                                 : "the plain kernel, which nothing was faster than";
  return fmt::format(
      "Kernel {} of step {} in {}, measured on {}: {}.\nSPDX-License-Identifier: Apache-2.0 (what Kerf "
      "wrote; the model stays its author's)",
      step.evaluation.candidate_id.substr(0, 12), step.number, run.folder.filename().string(), step.evaluation.device,
      measured);
}

Result<ModelWinner> read_winner(const std::filesystem::path& folder, const std::string& step) {
  KERF_TRY(const RunView run, load_run(folder));
  ModelWinner read;
  KERF_TRY(read.text, stored_task(run.facts, folder.string()));
  if (read.text.model.empty())
    return fail(
        Errc::invalid_input,
        fmt::format("{} was not made from a PyTorch model file, or by an older Kerf that did not keep it; "
                    "'kerf optimize model.py' makes such a run, and the formats source, c-header and cmake need "
                    "none",
                    folder.string()));
  KERF_TRY(read.chosen, choose_kernel(run, step));
  read.target = run.fact("target");
  KERF_TRY_VOID(check_target_name(read.target));
  read.exporter = find_target(read.target)->exporter;
  if (read.exporter == nullptr)
    return fail(Errc::invalid_input, fmt::format("kernels for target '{}' cannot be exported", read.target));
  const Step& chosen = run.step(read.chosen.step);
  read.by_shape = winners_by_shape(run.steps, chosen);
  read.origin = origin_of(run, chosen);
  return read;
}

}  // namespace

Result<std::string> kernelbench_export(const std::filesystem::path& run, const std::string& step) {
  KERF_TRY(const ModelWinner read, read_winner(run, step));
  return kernelbench_file(*read.exporter, read.winner(), read.text.model);
}

Result<std::vector<File>> torch_export(const std::filesystem::path& run, const std::string& package,
                                       const std::string& step) {
  KERF_TRY(const ModelWinner read, read_winner(run, step));
  return torch_package(*read.exporter, read.winner(), read.text.model, package);
}

}  // namespace kerf::exporting
