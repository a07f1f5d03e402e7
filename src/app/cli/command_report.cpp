#include <fmt/format.h>

#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "ir/analysis/cost.hpp"
#include "report/html_report.hpp"
#include "run/run_task.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

/// What the task's shape sets cost; empty when the reference is C++ or the run does not keep its task.
std::vector<report::ShapeCost> costs_of(const RunView& run) {
  std::vector<report::ShapeCost> costs;
  const auto text = stored_task(run.facts, run.folder.string());
  if (!text || !text->task.graph) return costs;
  for (const auto& shape : shapes_for(text->task, run.fact("target")))
    if (const auto cost = ir::cost(*text->task.graph, shape.symbols))
      costs.push_back({shape.name, cost->bytes_read + cost->bytes_written,
                       cost->fma_flops + cost->other_flops + cost->special_ops});
  return costs;
}

}  // namespace

Status report(const ReportOptions& options, const Environment&, Console& console) {
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  const std::filesystem::path file = options.out.empty() ? folder / "report.html" : std::filesystem::path(options.out);
  KERF_TRY_VOID(check_output({file, OutputKind::report}));
  KERF_TRY(const auto run, load_run(folder));
  KERF_TRY_VOID(write_output({file, OutputKind::report}, report::html_report(run, costs_of(run))));
  console.out << file.string() << std::endl;
  return {};
}

}  // namespace kerf::cli
