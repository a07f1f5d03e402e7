#pragma once
// A bench as one self-contained HTML page, in the style of a run's report.

#include <string>

#include "bench/bench_folder.hpp"

namespace kerf::bench {

/// `json` is results_json(state). The page loads nothing; it links to the reports of the problems' runs beside it.
std::string results_page(const BenchState& state, const std::string& json);

}  // namespace kerf::bench
