#include "device/arena/plan_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "device/arena/zones.hpp"

namespace kerf::arena {
namespace {

constexpr std::int64_t kMaxScratchBytes = 64LL << 30;

using Extents = std::array<std::int64_t, 3>;

Result<Extents> evaluate_extents(const std::vector<Dim>& dims, const Bindings& constants) {
  if (dims.size() > 3) return fail(Errc::invalid_input, "a launch has at most three dimensions");
  Extents extents{1, 1, 1};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    KERF_TRY(extents[i], dims[i].evaluate(constants));
  }
  return extents;
}

}  // namespace

Result<std::variant<PlanNumbers, Fault>> evaluate_plan(const LaunchPlan& plan, std::span<const BufferSpec> buffers,
                                                       const Bindings& constants) {
  PlanNumbers numbers;
  std::vector<std::string> names;
  for (const auto& buffer : buffers) names.push_back(buffer.name);
  for (const auto& scratch : plan.scratch) {
    KERF_TRY(const auto shape, evaluate(scratch.shape, constants));
    const std::int64_t bytes = tensor_bytes(scratch.dtype, shape);
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }) || bytes > kMaxScratchBytes)
      return Fault{Fault::Kind::crashed, fmt::format("scratch buffer {} cannot have {} bytes", scratch.name, bytes)};
    numbers.scratch.names.push_back(scratch.name);
    numbers.scratch.bytes.push_back(bytes);
    names.push_back(scratch.name);
  }
  for (const auto& launch : plan.launches) {
    LaunchNumbers one;
    one.kernel = launch.kernel;
    KERF_TRY(one.grid, evaluate_extents(launch.grid, constants));
    KERF_TRY(one.block, evaluate_extents(launch.block, constants));
    KERF_TRY(one.shared_bytes, launch.shared_bytes.evaluate(constants));
    one.dimensions = static_cast<int>(std::max<std::size_t>({launch.grid.size(), launch.block.size(), 1}));
    const auto positive = [](std::int64_t extent) { return extent > 0; };
    if (!std::ranges::all_of(one.grid, positive) || !std::ranges::all_of(one.block, positive) || one.shared_bytes < 0) {
      return Fault{Fault::Kind::crashed,
                   fmt::format("launch of {}: grid {}x{}x{}, block {}x{}x{} cannot run", launch.kernel, one.grid[0],
                               one.grid[1], one.grid[2], one.block[0], one.block[1], one.block[2])};
    }
    for (const auto& argument : launch.args) {
      const auto found = std::ranges::find(names, argument);
      if (found == names.end())
        return fail(Errc::invalid_input, fmt::format("launch of {}: no buffer is named '{}'{}", launch.kernel, argument,
                                                     did_you_mean(argument, names)));
      one.args.push_back(static_cast<int>(found - names.begin()));
    }
    numbers.launches.push_back(std::move(one));
  }
  return numbers;
}

}  // namespace kerf::arena
