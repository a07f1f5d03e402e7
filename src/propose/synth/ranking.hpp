#pragma once
// First guesses in order: which variant of a family should be the fastest, by what it computes and with which unit.

#include <map>
#include <string>
#include <vector>

#include "propose/synth/space.hpp"

namespace kerf::synth {

/// FLOP/s by unit of a device with all of them, for devices that were not calibrated. Only their ratios matter.
const std::map<std::string, double>& typical_rates();

/// Multiply-adds of the group's contractions and convolutions for the shape set with the largest weight, two FLOPs
/// each.
double product_flops(const codegen::BufferPlan& plan, const Group& group, const std::vector<ShapeSet>& shapes);

/// Microseconds that a variant with a unit should take, launches included; `work` as Option has it.
double expected_us(const Variant& variant, double work, double flops, const std::map<std::string, double>& rates);

/// The symbols of the shape set with the largest weight; none when there is no shape.
Bindings heaviest(const std::vector<ShapeSet>& shapes);

/// Puts options whose variants name a unit in the order of what they should take; the others stay where they are.
void rank(std::vector<Option>& options, double flops, const std::map<std::string, double>& rates);

}  // namespace kerf::synth
