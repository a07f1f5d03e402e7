#include "export/gpu_parts.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kerf::exporting {

std::vector<std::size_t> argument_indices(const Winner& winner, const LaunchPlan& plan, const Launch& launch) {
  std::vector<std::string> all;
  for (const auto& input : winner.task.inputs) all.push_back(input.name);
  for (const auto& output : winner.task.outputs) all.push_back(output.name);
  for (const auto& scratch : plan.scratch) all.push_back(scratch.name);
  std::vector<std::size_t> indices;
  for (const auto& name : launch.args)
    indices.push_back(static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin()));
  return indices;
}

std::string three(const std::vector<Dim>& extents) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < 3; ++i) parts.push_back(i < extents.size() ? extents[i].to_c() : "1");
  return join(parts, ", ");
}

std::vector<std::string> kernel_names(const LaunchPlan& plan) {
  std::vector<std::string> names;
  for (const Launch& launch : plan.launches)
    if (std::find(names.begin(), names.end(), launch.kernel) == names.end()) names.push_back(launch.kernel);
  return names;
}

}  // namespace kerf::exporting
