#include "propose/synth/group_facts.hpp"

#include <algorithm>
#include <cmath>

#include "propose/synth/ranking.hpp"

namespace kerf::synth {
namespace {

constexpr double kSlowProducts = 20;  // times as long as with the plain unit: products of the family for what is left
constexpr double kCopyRate = 4e12;    // bytes/s of a device that was not calibrated
constexpr double kResultsPerTile = 128 * 128;
constexpr double kTypicalComputeUnits = 64;

using ir::is;

std::string operation_of(const ir::Node& node) {
  if (is<ir::ReduceAttr>(node)) return "reduce";
  if (is<ir::ScanAttr>(node)) return "scan";
  if (is<ir::ContractAttr>(node)) return "contract";
  if (is<ir::ConvAttr>(node)) return "conv";
  if (is<ir::PoolAttr>(node) || is<ir::AdaptivePoolAttr>(node)) return "pool";
  if (is<ir::ConcatAttr>(node)) return "concat";
  if (is<ir::GatherAttr>(node)) return "gather";
  return "top";
}

double bytes_of(const codegen::BufferPlan& plan, int buffer, const Bindings& bindings) {
  const codegen::Buffer& place = plan.buffers[static_cast<std::size_t>(buffer)];
  const auto count = element_count(place.shape).evaluate(bindings);
  return static_cast<double>(count.value_or(0)) * static_cast<double>(dtype_size(place.dtype));
}

/// How often a group goes over its operands when it keeps nothing of them.
double passes_of(const TemplateValues& values) {
  const auto is_one = [&](const std::string& name) {
    const auto found = values.text.find(name);
    return found != values.text.end() && found->second == "1";
  };
  double passes = is_one("PER_ELEMENT") ? 1 : 0;
  for (const int count : {1, 2, 3})
    if (is_one("PASSES_" + std::to_string(count))) passes += count;
  return std::max(1.0, passes);
}

/// Groups of threads that products are shared by, when each computes a tile of results.
double tiles_of(const codegen::BufferPlan& plan, const Group& group, const Bindings& bindings) {
  double results = 0;
  for (const ir::NodeId anchor : group.anchors) {
    const ir::Node& node = plan.graph[anchor];
    if (!is<ir::ContractAttr>(node) && !is<ir::ConvAttr>(node)) continue;
    results = std::max(results, static_cast<double>(element_count(node.shape).evaluate(bindings).value_or(0)));
  }
  return std::max(1.0, std::ceil(results / kResultsPerTile));
}

double time_of(const GroupFacts& facts, const Variant& variant, double work, double tiles,
               const TargetContext& context) {
  const auto& rates = context.rates;
  const auto copy = rates.find("copy");
  const double copied = copy != rates.end() && copy->second > 0 ? copy->second : kCopyRate;
  Variant multiplies = variant;
  if (variant.unit.empty()) {
    multiplies.unit = "fma_f32";
    if (variant.family == all_families().back()->name()) work = kSlowProducts;
  }
  const double launching = expected_us(multiplies, work, 0, rates);
  double multiplying = expected_us(multiplies, work, facts.flops, rates) - launching;
  if (!variant.unit.empty()) {  // the others are kernels for processors, which have few cores
    const double units = context.facts.compute_units > 0 ? context.facts.compute_units : kTypicalComputeUnits;
    multiplying *= std::max(1.0, units / tiles);
  }
  const double moving = (facts.bytes_read * facts.moves + facts.bytes_written) / copied * 1e6;
  return std::max(moving, multiplying) + launching;
}

}  // namespace

std::vector<GroupFacts> group_facts(const Partition& partition, const std::vector<const Option*>& options,
                                    const TargetContext& context) {
  const auto& shapes = context.shapes;
  const Bindings bindings = heaviest(shapes);
  const codegen::BufferPlan& plan = partition.plan;
  std::vector<GroupFacts> all;
  for (std::size_t g = 0; g < partition.groups.size(); ++g) {
    const Group& group = partition.groups[g];
    const Variant& variant = *options[g]->variant;
    GroupFacts facts;
    facts.family = variant.family;
    facts.variant = variant.name;
    facts.unit = variant.unit;
    facts.stored = plan.buffers[static_cast<std::size_t>(group.buffer)].name;
    facts.launches = variant.launches.size();
    for (const ir::NodeId anchor : group.anchors) facts.operations.push_back(operation_of(plan.graph[anchor]));
    for (const ir::NodeId id : group.members) {
      const std::string& origin = plan.graph[id].origin;
      std::string name = origin.substr(0, origin.find('#'));
      if (!name.empty() && std::find(facts.functions.begin(), facts.functions.end(), name) == facts.functions.end())
        facts.functions.push_back(std::move(name));
    }
    facts.flops = product_flops(plan, group, shapes);
    for (const ir::NodeId leaf : group.leaves)
      facts.bytes_read += bytes_of(plan, plan.location[static_cast<std::size_t>(leaf)], bindings);
    facts.moves = variant.moves * (variant.rereads ? passes_of(options[g]->values) : 1);
    facts.bytes_written = bytes_of(plan, group.buffer, bindings);
    facts.expected_us = time_of(facts, variant, options[g]->work, tiles_of(plan, group, bindings), context);
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace kerf::synth
