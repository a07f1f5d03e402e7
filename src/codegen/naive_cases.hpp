#pragma once
// For tests: one small graph per node kind and operator family.

#include <functional>
#include <string>
#include <vector>

#include "ir/builder.hpp"

namespace kerf::codegen {

/// A Builder whose mistakes abort the test.
class SureBuilder : public ir::Builder {
 public:
  using Builder::Builder;
  ir::NodeId sure(Result<ir::NodeId> result) const {
    KERF_CHECK(result.has_value(), result ? "" : result.error().message.c_str());
    return *result;
  }
  template <class... Args>
  ir::NodeId apply(ir::MapOp op, Args... args) {
    return sure(map(op, {args...}));
  }
};

struct GraphCase {
  std::string name;
  std::function<void(SureBuilder&)> build;
  Bindings symbols{{"rows", 5}, {"cols", 7}, {"depth", 3}};
};

/// Every kind of node, every MapOp, every ReduceOp and ScanOp occurs in at least one case.
const std::vector<GraphCase>& graph_cases();

ir::Graph build_case(const GraphCase& test_case);

}  // namespace kerf::codegen
