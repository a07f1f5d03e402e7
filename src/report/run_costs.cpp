#include "report/run_costs.hpp"

#include "ir/analysis/cost.hpp"
#include "run/run_task.hpp"

namespace kerf::report {

std::vector<ShapeCost> run_costs(const RunView& run) {
  std::vector<ShapeCost> costs;
  const auto text = stored_task(run.facts, run.folder.string());
  if (!text || !text->task.graph) return costs;
  for (const auto& shape : shapes_for(text->task, run.fact("target")))
    if (const auto cost = ir::cost(*text->task.graph, shape.symbols))
      costs.push_back({shape.name, cost->bytes_read + cost->bytes_written,
                       cost->fma_flops + cost->other_flops + cost->special_ops});
  return costs;
}

}  // namespace kerf::report
