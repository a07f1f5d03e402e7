#include "model/gate.hpp"

#include <algorithm>
#include <array>

namespace kerf {
namespace {

constexpr std::array kGates{
#define KERF_GATE(id, name, reached, looks_at) GateEntry{Gate::id, name, Reached::reached, looks_at},
#include "model/gates.def"
#undef KERF_GATE
};

const GateEntry& entry(Gate gate) { return kGates[static_cast<std::size_t>(gate)]; }

}  // namespace

std::span<const GateEntry> all_gates() { return kGates; }

std::string_view gate_name(Gate gate) { return entry(gate).name; }

Reached reached_at(Gate gate) { return entry(gate).reached; }

std::string_view gate_looks_at(Gate gate) { return entry(gate).looks_at; }

std::optional<Gate> gate_from_name(std::string_view name) {
  const auto found = std::find_if(kGates.begin(), kGates.end(), [&](const GateEntry& e) { return e.name == name; });
  if (found == kGates.end()) return std::nullopt;
  return found->gate;
}

}  // namespace kerf
