#pragma once
// What the shape sets of a run's task cost at least, for its page.

#include <vector>

#include "report/report_data.hpp"
#include "run/run_view.hpp"

namespace kerf::report {

/// Empty when the reference is C++ or the run does not keep its task.
std::vector<ShapeCost> run_costs(const RunView& run);

}  // namespace kerf::report
