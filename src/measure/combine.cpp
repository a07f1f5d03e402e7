#include "measure/combine.hpp"

#include <cmath>
#include <vector>

namespace kerf {

std::optional<CombinedEstimate> combine(std::span<const WeightedEstimate> shapes) {
  double weight = 0, centre = 0, below = 0, above = 0;  // of logarithms
  for (const WeightedEstimate& shape : shapes) {
    if (!(shape.centre > 0)) return std::nullopt;
    weight += shape.weight;
    centre += shape.weight * std::log(shape.centre);
    below += std::pow(shape.weight * std::log(shape.centre / shape.low), 2);
    above += std::pow(shape.weight * std::log(shape.high / shape.centre), 2);
  }
  if (!(weight > 0)) return std::nullopt;
  return CombinedEstimate{std::exp(centre / weight), std::exp((centre - std::sqrt(below)) / weight),
                          std::exp((centre + std::sqrt(above)) / weight)};
}

std::optional<Speedup> speedup_over(const Measurement& measurement, const std::string& baseline) {
  std::vector<WeightedEstimate> estimates;
  for (const ShapeMeasurement& shape : measurement.shapes) {
    const auto found = shape.speedups.find(baseline);
    if (found == shape.speedups.end()) return std::nullopt;
    estimates.push_back({shape.weight, found->second.ratio, found->second.low, found->second.high});
  }
  const auto combined = combine(estimates);
  if (!combined) return std::nullopt;
  return Speedup{baseline, combined->centre, combined->low, combined->high};
}

void combine_speedups(Measurement& measurement) {
  if (measurement.shapes.empty()) return;
  std::optional<Speedup> weakest;  // the smallest ratio belongs to the strongest baseline
  for (const auto& [name, first] : measurement.shapes.front().speedups)
    if (const auto speedup = speedup_over(measurement, name); speedup && (!weakest || speedup->ratio < weakest->ratio))
      weakest = speedup;
  if (weakest) measurement.speedup = *weakest;
}

}  // namespace kerf
