#pragma once
// What OpenCL and CUDA launchers share: launch geometry as C.

#include <string>
#include <vector>

#include "export/parts.hpp"

namespace kerf::exporting {

/// Index of each argument in the list inputs, outputs, scratch.
std::vector<std::size_t> argument_indices(const Winner& winner, const LaunchPlan& plan, const Launch& launch);

/// "x, y, z" as C expressions; missing dimensions are 1.
std::string three(const std::vector<Dim>& extents);

/// Names of the kernels a plan launches, each once.
std::vector<std::string> kernel_names(const LaunchPlan& plan);

}  // namespace kerf::exporting
