#pragma once
// When does the worst-case error bound of a task say nothing, so that errors have to be taken for a random walk?

#include <vector>

#include "ir/graph.hpp"
#include "model/task.hpp"
#include "oracle/dataset.hpp"

namespace kerf::oracle {

/// The longest chain of float sums, contractions, convolutions, scans and averaging pools in the graph: through each of
/// them worst-case bounds grow by the root of its length beyond real errors.
int summing_depth(const ir::Graph& graph);

/// Graphs with shorter chains keep the worst-case bound, whatever it says: it is loose by an order of magnitude there,
/// and where it is infinite that has another cause than depth.
inline constexpr int kDeep = 4;

/// By output: on more than half of its elements the bound is infinite or larger than the output's values are (rms), so
/// that zeros are within it. Elements that are NaN or infinite do not count.
std::vector<bool> silent_outputs(const Task& task, const DataSet& data);

/// What people are told of a task whose errors are taken for a random walk.
inline constexpr const char* kWalkNote =
    "deep network: worst-case error bounds say nothing here, errors are taken for a random walk";

}  // namespace kerf::oracle
