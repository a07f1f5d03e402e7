#pragma once
// Tests only: the graph's meaning written down as plainly as possible, node by node and element by element.

#include <functional>
#include <span>
#include <vector>

#include "ir/graph.hpp"
#include "ir/tensor.hpp"

namespace kerf::ir::naive {

/// Exactly one of the vectors is used: `reals` for float nodes, `integers` for integers and bools.
struct Tensor {
  std::vector<std::int64_t> extents;
  bool floating = true;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;

  std::int64_t count() const {
    std::int64_t n = 1;
    for (const auto extent : extents) n *= extent;
    return n;
  }
};

/// The outputs of a well-formed graph. Slow.
std::vector<Tensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs, const Bindings& bindings);

}  // namespace kerf::ir::naive
