#pragma once
// The reference: evaluates a graph in double precision (integers and bools exactly), on all given threads.

#include <span>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"
#include "ir/tensor.hpp"

namespace kerf::ir {

struct InterpretOptions {
  int threads = 0;                                  ///< 0: all cores
  std::int64_t max_bytes = std::int64_t{16} << 30;  ///< refuse, with an error, to hold more than this at once
};

/// Values of the graph's outputs. Float nodes are computed and returned as f64 whatever their declared dtype (inputs
/// are exact: they are converted from their storage); integer and bool nodes as i64 and bool. `inputs` are in
/// graph.inputs order with the extents that `bindings` gives them; a mismatch is an error. Results do not depend on
/// `threads`.
Result<std::vector<HostTensor>> interpret(const Graph& graph, std::span<const HostTensor> inputs,
                                          const Bindings& bindings, const InterpretOptions& options = {});

}  // namespace kerf::ir
