#pragma once
// A launch plan under concrete constants.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/protocol.hpp"
#include "device/device.hpp"

namespace kerf::cuda {

struct ConcretePlan {
  std::vector<std::uint64_t> scratch_bytes;
  std::vector<std::string> scratch_names;
  std::vector<LaunchNumbers> launches;
};

/// Names and extents resolved. Negative extents are an error with Errc::tool_failed: the candidate's fault, not the
/// caller's.
/// `buffers` are the names that come before scratch in the numbering of arguments.
Result<ConcretePlan> evaluate_plan(const LaunchPlan& plan, const Bindings& constants,
                                   const std::vector<std::string>& buffers);

std::uint64_t bytes_of(const BufferSpec& buffer);

}  // namespace kerf::cuda
