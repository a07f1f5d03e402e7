#pragma once
// Every gate a candidate can fail at, with the name that evaluations and runs store. A new gate: its check in verify/,
// one entry of the list in gates.def, one row of the table in docs/verification.md (a test compares the two).

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kerf {

enum class Gate {
#define KERF_GATE(id, name, reached, looks_at) id,
#include "model/gates.def"
#undef KERF_GATE
};

/// How far a candidate came that is refused at a gate.
enum class Reached { proposed, readable, compiled, ran, right };

struct GateEntry {
  Gate gate;
  std::string_view name;  ///< stored, so never renamed
  Reached reached;
  std::string_view looks_at;  ///< for who writes kernels and does not know the judge
};

/// In the order of the enum.
std::span<const GateEntry> all_gates();
std::string_view gate_name(Gate gate);
Reached reached_at(Gate gate);
std::string_view gate_looks_at(Gate gate);
/// None for a name that no gate has.
std::optional<Gate> gate_from_name(std::string_view name);

}  // namespace kerf
