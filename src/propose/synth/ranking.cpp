#include "propose/synth/ranking.hpp"

#include <algorithm>
#include <set>

namespace kerf::synth {
namespace {

constexpr double kReached = 0.5;  // share of a unit's rate that a kernel reaches
constexpr double kLaunchUs = 4;   // of each launch, with what it waits for
constexpr double kMicro = 1e6;

using ir::attr;
using ir::is;

double extent(const Dim& dim, const Bindings& bindings) {
  return static_cast<double>(dim.evaluate(bindings).value_or(1));
}

double flops_of(const ir::Graph& graph, const ir::Node& node, const Bindings& bindings) {
  double terms = 1;
  if (is<ir::ContractAttr>(node)) {
    const auto& contract = attr<ir::ContractAttr>(node);
    std::set<int> counted;
    for (std::size_t a = 0; a < 2; ++a) {
      const auto& labels = a == 0 ? contract.lhs : contract.rhs;
      for (std::size_t d = 0; d < labels.size(); ++d)
        if (counted.insert(labels[d]).second) terms *= extent(graph[node.args[a]].shape[d], bindings);
    }
    return 2 * terms;
  }
  if (!is<ir::ConvAttr>(node)) return 0;
  const Shape& x = graph[node.args[0]].shape;
  const Shape& w = graph[node.args[1]].shape;
  for (const Dim& size : attr<ir::ConvAttr>(node).transposed ? x : node.shape) terms *= extent(size, bindings);
  for (std::size_t d = 1; d < w.size(); ++d) terms *= extent(w[d], bindings);
  return 2 * terms;
}

}  // namespace

const std::map<std::string, double>& typical_rates() {
  static const std::map<std::string, double> rates{{"fma_f32", 60e12},      {"fma_f64", 30e12},
                                                   {"tensor_f16", 900e12},  {"tensor_bf16", 900e12},
                                                   {"tensor_tf32", 450e12}, {"tensor_f64", 60e12}};
  return rates;
}

double product_flops(const codegen::BufferPlan& plan, const Group& group, const std::vector<ShapeSet>& shapes) {
  if (shapes.empty()) return 0;
  const Bindings main = heaviest(shapes);
  double flops = 0;
  for (const ir::NodeId anchor : group.anchors) flops += flops_of(plan.graph, plan.graph[anchor], main);
  return flops;
}

Bindings heaviest(const std::vector<ShapeSet>& shapes) {
  const auto main = std::max_element(shapes.begin(), shapes.end(),
                                     [](const ShapeSet& a, const ShapeSet& b) { return a.weight < b.weight; });
  return main == shapes.end() ? Bindings{} : main->symbols;
}

double expected_us(const Variant& variant, double work, double flops, const std::map<std::string, double>& rates) {
  const auto measured = rates.find(variant.unit);
  const double rate =
      measured != rates.end() && measured->second > 0 ? measured->second : typical_rates().at(variant.unit);
  return flops * work / (kReached * rate) * kMicro + kLaunchUs * static_cast<double>(variant.launches.size());
}

void rank(std::vector<Option>& options, double flops, const std::map<std::string, double>& rates) {
  std::vector<std::size_t> places;
  std::vector<Option> ranked;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (!options[i].variant->unit.empty()) {
      places.push_back(i);
      ranked.push_back(options[i]);
    }
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Option& a, const Option& b) {
    return expected_us(*a.variant, a.work, flops, rates) < expected_us(*b.variant, b.work, flops, rates);
  });
  for (std::size_t i = 0; i < places.size(); ++i) options[places[i]] = std::move(ranked[i]);
}

}  // namespace kerf::synth
