#pragma once
// Why a candidate was refused. The alternatives are those of Outcome (model/evaluation.hpp) without a measurement.

#include <optional>
#include <variant>

#include "device/device.hpp"
#include "model/evaluation.hpp"

namespace kerf {

using Refusal = std::variant<WrongResult, Crashed, TimedOut, Rejected>;

/// A device fault as a refusal at `gate`, the one under way; what the sandbox refused is its own gate.
Refusal refusal_from(const Fault& fault, Gate gate);

/// Whether the process that the kernel ran in is still the same: the device replaced it after a fault.
bool worker_lives(const Refusal& refusal);

Outcome to_outcome(Refusal refusal);

}  // namespace kerf
