#pragma once
// What the report page shows, as one JSON text.

#include <string>
#include <vector>

#include "run/run_view.hpp"

namespace kerf::report {

/// What a shape set costs at least; the roofline needs it.
struct ShapeCost {
  std::string shape;
  double bytes = 0;  ///< read and written
  double flops = 0;  ///< all operations
};

/// Sources of the winner's ancestors and of the archive are always in it, others while they fit into `source_budget`
/// bytes.
std::string report_data(const RunView& run, const std::vector<ShapeCost>& costs, std::size_t source_budget = 4'000'000);

}  // namespace kerf::report
