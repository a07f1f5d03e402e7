#include "model/gate.hpp"

#include <algorithm>
#include <array>

namespace kerf {
namespace {

constexpr std::array kGates{
    GateEntry{Gate::parse, "parse", Reached::proposed},
    GateEntry{Gate::compile, "compile", Reached::readable},
    GateEntry{Gate::static_budget, "static_budget", Reached::compiled},
    GateEntry{Gate::duplicate, "duplicate", Reached::compiled},
    GateEntry{Gate::sandbox, "sandbox", Reached::compiled},
    GateEntry{Gate::small_shape, "small shape", Reached::compiled},
    GateEntry{Gate::all_shapes, "all shapes", Reached::compiled},
    GateEntry{Gate::timing, "timing", Reached::compiled},
    GateEntry{Gate::canary, "canary", Reached::compiled},
    GateEntry{Gate::red_zone, "red_zone", Reached::ran},
    GateEntry{Gate::inputs_unchanged, "inputs_unchanged", Reached::ran},
    GateEntry{Gate::values, "values", Reached::ran},
    GateEntry{Gate::accuracy, "accuracy", Reached::ran},
    GateEntry{Gate::side_effects, "side_effects", Reached::ran},
    GateEntry{Gate::deterministic, "deterministic", Reached::ran},
    GateEntry{Gate::batch_invariant, "batch_invariant", Reached::ran},
    GateEntry{Gate::soak, "soak", Reached::ran},
    GateEntry{Gate::floor, "floor", Reached::right},
    GateEntry{Gate::clock, "clock", Reached::right},
};

constexpr bool in_the_order_of_the_enum() {
  for (std::size_t i = 0; i < kGates.size(); ++i)
    if (static_cast<std::size_t>(kGates[i].gate) != i) return false;
  return static_cast<std::size_t>(Gate::clock) + 1 == kGates.size();
}
static_assert(in_the_order_of_the_enum());

const GateEntry& entry(Gate gate) { return kGates[static_cast<std::size_t>(gate)]; }

}  // namespace

std::span<const GateEntry> all_gates() { return kGates; }

std::string_view gate_name(Gate gate) { return entry(gate).name; }

Reached reached_at(Gate gate) { return entry(gate).reached; }

std::optional<Gate> gate_from_name(std::string_view name) {
  const auto found = std::find_if(kGates.begin(), kGates.end(), [&](const GateEntry& e) { return e.name == name; });
  if (found == kGates.end()) return std::nullopt;
  return found->gate;
}

}  // namespace kerf
