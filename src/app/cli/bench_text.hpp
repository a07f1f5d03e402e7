#pragma once
// A bench in words: the summary at its end and the lines while it goes.

#include <string>

#include "app/cli/render.hpp"
#include "bench/bench.hpp"

namespace kerf::cli {

/// "  done 1/23 Softmax          2.31x (2.25 to 2.40) over eager, 1.20x over compile": what became of one problem, in
/// at most `columns`.
std::string problem_line(const bench::Record& record, const Style& style, std::size_t columns);

/// "23 of 100 problems, 2 failed, 18 faster; 3 min 20 s, about 12 min left".
std::string progress_words(const bench::BenchProgress& progress);

/// Scores per level, the five best and the five worst, failures by reason; no line wider than 80 columns.
std::string bench_summary(const bench::BenchState& state, const Style& style);

}  // namespace kerf::cli
