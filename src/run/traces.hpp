#pragma once
// Conversations of a run with what became of them, one JSON object a line: what training reads (docs/formats.md).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "store/run_store.hpp"

namespace kerf {

/// Calls `on_line` with every exchange of the run, in the order of its steps; lines have no end. Gives their number.
Result<std::int64_t> export_traces(const RunStore& run, const std::function<Status(const std::string& line)>& on_line);

/// How good an answer was, -1 to 1: refused kernels get 0 or less, graded by how far they came, those that pass more
/// than 0, however slow. The first that passes gets 1, later ones r^2 / (r^2 + 1), with r their speedup over the best
/// before them. `best_log_speedup`: before this step.
double trace_reward(const Outcome& outcome, std::optional<double> best_log_speedup);

}  // namespace kerf
