// Einstein summation by pairwise contraction.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

struct Operand {
  T tensor;
  std::vector<int> labels;

  bool has(int label) const { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
};

/// Repeated labels as a diagonal, so that each occurs once.
void take_diagonals(Ops& ops, Operand& operand) {
  ViewAttr view;
  Shape shape;
  std::vector<int> distinct;
  for (std::size_t d = 0; d < operand.labels.size(); ++d) {
    const auto found = std::find(distinct.begin(), distinct.end(), operand.labels[d]);
    const auto axis = static_cast<int>(found - distinct.begin());
    const Dim extent = operand.tensor.shape()[d];
    if (found == distinct.end()) {
      distinct.push_back(operand.labels[d]);
      shape.push_back(extent);
    } else if (!ops.builder().same_extent(shape[static_cast<std::size_t>(axis)], extent)) {
      return ops.fail("einsum: a repeated label has extents " + shape[static_cast<std::size_t>(axis)].to_string() +
                      " and " + extent.to_string());
    }
    view.axes.push_back({Dim(0), {{axis, 1}}, std::nullopt});
  }
  if (distinct.size() == operand.labels.size()) return;
  operand.tensor = ops.view(operand.tensor, std::move(view), std::move(shape));
  operand.labels = std::move(distinct);
}

/// Drops the axes of extent 1 whose label is longer elsewhere: they stretch.
void drop_stretched(Ops& ops, std::vector<Operand>& operands) {
  std::set<int> longer;
  for (const auto& operand : operands)
    for (std::size_t d = 0; d < operand.labels.size(); ++d)
      if (!operand.tensor.shape()[d].is_one()) longer.insert(operand.labels[d]);
  for (auto& operand : operands) {
    Shape kept;
    std::vector<int> labels;
    for (std::size_t d = 0; d < operand.labels.size(); ++d) {
      if (operand.tensor.shape()[d].is_one() && longer.contains(operand.labels[d])) continue;
      kept.push_back(operand.tensor.shape()[d]);
      labels.push_back(operand.labels[d]);
    }
    if (labels.size() == operand.labels.size()) continue;
    operand.tensor = ops.reshape(operand.tensor, std::move(kept));
    operand.labels = std::move(labels);
  }
}

/// Sums the labels of `operand` that `wanted` lacks.
void sum_unwanted(Ops& ops, Operand& operand, const std::set<int>& wanted) {
  std::vector<int> axes, kept;
  for (std::size_t d = 0; d < operand.labels.size(); ++d) {
    if (wanted.contains(operand.labels[d]))
      kept.push_back(operand.labels[d]);
    else
      axes.push_back(static_cast<int>(d));
  }
  if (axes.empty()) return;
  operand.tensor = ops.reduce(ReduceOp::sum, operand.tensor, axes, false);
  operand.labels = std::move(kept);
}

T reordered(Ops& ops, const Operand& operand, const std::vector<int>& out) {
  std::vector<int> order;
  for (const int label : out)
    order.push_back(
        static_cast<int>(std::find(operand.labels.begin(), operand.labels.end(), label) - operand.labels.begin()));
  return ops.transpose(operand.tensor, order);
}

}  // namespace

T einsum(Ops& ops, std::vector<T> operands, std::vector<std::vector<int>> labels, const std::vector<int>& out) {
  std::vector<Operand> rest;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (ops.failed() || operands[i].id < 0) return T{&ops, -1};
    rest.push_back({operands[i], std::move(labels[i])});
    take_diagonals(ops, rest.back());
    if (ops.failed()) return T{&ops, -1};
  }
  drop_stretched(ops, rest);
  Operand result = rest[0];
  for (std::size_t i = 1; i < rest.size(); ++i) {
    std::set<int> later(out.begin(), out.end());  // labels needed after this pair
    for (std::size_t j = i + 1; j < rest.size(); ++j) later.insert(rest[j].labels.begin(), rest[j].labels.end());
    Operand& next = rest[i];
    std::set<int> wanted = later;
    wanted.insert(next.labels.begin(), next.labels.end());
    sum_unwanted(ops, result, wanted);
    wanted = later;
    wanted.insert(result.labels.begin(), result.labels.end());
    sum_unwanted(ops, next, wanted);
    if (ops.failed()) return T{&ops, -1};
    ContractAttr attr{result.labels, next.labels, {}};
    if (i + 1 == rest.size()) {
      attr.out = out;
    } else {
      for (const Operand* side : {&std::as_const(result), &std::as_const(next)})
        for (const int label : side->labels)
          if (later.contains(label) && std::find(attr.out.begin(), attr.out.end(), label) == attr.out.end())
            attr.out.push_back(label);
    }
    std::vector<int> kept = attr.out;
    // Graphs carry small labels: rename them in order of appearance.
    std::map<int, int> small;
    for (auto* side : {&attr.lhs, &attr.rhs, &attr.out})
      for (int& label : *side) label = small.try_emplace(label, static_cast<int>(small.size())).first->second;
    result = {ops.contract(result.tensor, next.tensor, std::move(attr)), std::move(kept)};
    if (ops.failed()) return T{&ops, -1};
  }
  sum_unwanted(ops, result, std::set<int>(out.begin(), out.end()));
  return ops.failed() ? T{&ops, -1} : reordered(ops, result, out);
}

}  // namespace kerf::ir
