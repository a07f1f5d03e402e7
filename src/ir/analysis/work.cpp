#include "ir/analysis/work.hpp"

#include <algorithm>

namespace kerf::ir {
namespace {

double product(const std::vector<std::int64_t>& extents, std::size_t from = 0) {
  double all = 1;
  for (std::size_t d = from; d < extents.size(); ++d) all *= static_cast<double>(extents[d]);
  return all;
}

/// Elements of the space that a contraction runs over: every label once.
double contracted(const ContractAttr& contract, const std::vector<std::int64_t>& x,
                  const std::vector<std::int64_t>& y) {
  std::map<int, std::int64_t> extents;
  for (std::size_t d = 0; d < contract.lhs.size(); ++d) extents[contract.lhs[d]] = x[d];
  for (std::size_t d = 0; d < contract.rhs.size(); ++d) extents[contract.rhs[d]] = y[d];
  double all = 1;
  for (const auto& [label, extent] : extents) all *= static_cast<double>(extent);
  return all;
}

}  // namespace

Result<double> whole_work(const Graph& graph, const Bindings& bindings) {
  std::vector<std::vector<std::int64_t>> extents;
  double all = 0;
  for (const Node& node : graph.nodes) {
    KERF_TRY(auto own, evaluate(node.shape, bindings));
    const auto of = [&](std::size_t arg) -> const std::vector<std::int64_t>& {
      return extents[static_cast<std::size_t>(node.args[arg])];
    };
    double work = product(own);
    if (is<ContractAttr>(node)) {
      work = contracted(attr<ContractAttr>(node), of(0), of(1));
    } else if (is<ConvAttr>(node)) {  // of a transposed one every input element meets every tap of its group
      work = attr<ConvAttr>(node).transposed ? product(of(0)) * product(of(1), 1) : work * product(of(1), 1);
    } else if (is<PoolAttr>(node)) {
      work *= product(attr<PoolAttr>(node).kernel);
    } else if (!node.args.empty()) {
      work = std::max(work, product(of(0)));
    }
    all += work;
    extents.push_back(std::move(own));
  }
  return all;
}

}  // namespace kerf::ir
