#pragma once
// A launch plan with every symbol replaced by its number and every buffer name by its index.

#include <span>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "device/arena/arena_worker.hpp"
#include "device/arena/kernel_process.hpp"
#include "device/device.hpp"
#include "model/candidate.hpp"

namespace kerf::arena {

struct ConcretePlan {
  std::vector<LaunchNumbers> launches;
  KernelProcess::Scratch scratch;
};

/// A plan that no device could run with these numbers (an empty grid, a negative scratch size) is a Fault.
Result<std::variant<ConcretePlan, Fault>> evaluate_plan(const LaunchPlan& plan, std::span<const BufferSpec> buffers,
                                                        const Bindings& constants);

}  // namespace kerf::arena
