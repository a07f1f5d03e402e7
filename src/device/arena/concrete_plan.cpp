#include "device/arena/concrete_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/memory.hpp"
#include "base/text.hpp"
#include "device/arena/zones.hpp"

namespace kerf::arena {
namespace {

using Extents = std::array<std::int64_t, 3>;

Result<Extents> evaluate_extents(const std::vector<Dim>& dims, const Bindings& constants) {
  if (dims.size() > 3) return fail(Errc::invalid_input, "a launch has at most three dimensions");
  Extents extents{1, 1, 1};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    KERF_TRY(extents[i], dims[i].evaluate(constants));
  }
  return extents;
}

/// Numbers that do not exist for these extents (a division by zero, an overflow): the candidate's own fault, which
/// costs it the verdict and nobody else anything.
std::optional<Fault> impossible_numbers(const LaunchPlan& plan, const Bindings& constants) {
  std::vector<std::pair<std::string, Dim>> all;
  for (const auto& scratch : plan.scratch)
    for (const Dim& extent : scratch.shape) all.emplace_back("scratch buffer " + scratch.name, extent);
  for (const auto& launch : plan.launches) {
    for (const auto* extents : {&launch.grid, &launch.block})
      for (const Dim& extent : *extents) all.emplace_back("launch of " + launch.kernel, extent);
    all.emplace_back("launch of " + launch.kernel, launch.shared_bytes);
  }
  for (const auto& [where, dim] : all) {
    std::vector<std::string> symbols;
    dim.collect_symbols(symbols);
    if (!std::ranges::all_of(symbols, [&](const auto& name) { return constants.count(name) != 0; })) continue;
    if (const auto value = dim.evaluate(constants); !value)
      return Fault{Fault::Kind::crashed, fmt::format("{}: {}", where, value.error().message)};
  }
  return std::nullopt;
}

/// All scratch buffers together, which are filled before every checked call, must fit half of the memory that there is.
std::optional<Fault> too_much_scratch(const ConcretePlan& numbers) {
  const std::int64_t there = available_memory_bytes() / 2;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < numbers.scratch.bytes.size(); ++i) {
    const std::int64_t bytes = numbers.scratch.bytes[i];
    if (bytes > there - total)
      return Fault{Fault::Kind::crashed,
                   fmt::format("scratch buffer {} cannot have {} beside {} of others: at most {} are given out",
                               numbers.scratch.names[i], bytes_text(static_cast<double>(bytes)),
                               bytes_text(static_cast<double>(total)), bytes_text(static_cast<double>(there)))};
    total += bytes;
  }
  return std::nullopt;
}

bool can_run(const LaunchNumbers& launch) {
  const auto positive = [](std::int64_t extent) { return extent > 0; };
  if (!std::ranges::all_of(launch.grid, positive) || !std::ranges::all_of(launch.block, positive)) return false;
  std::int64_t items = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (__builtin_mul_overflow(items, launch.grid[d], &items) || __builtin_mul_overflow(items, launch.block[d], &items))
      return false;
  }
  return launch.shared_bytes >= 0;
}

}  // namespace

Result<std::variant<ConcretePlan, Fault>> evaluate_plan(const LaunchPlan& plan, std::span<const BufferSpec> buffers,
                                                        const Bindings& constants) {
  if (auto fault = impossible_numbers(plan, constants)) return *std::move(fault);
  ConcretePlan numbers;
  std::vector<std::string> names;
  for (const auto& buffer : buffers) names.push_back(buffer.name);
  for (const auto& scratch : plan.scratch) {
    KERF_TRY(const auto shape, evaluate(scratch.shape, constants));
    const std::int64_t bytes = tensor_bytes(scratch.dtype, shape);
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }))
      return Fault{Fault::Kind::crashed, fmt::format("scratch buffer {} has a negative extent", scratch.name)};
    numbers.scratch.names.push_back(scratch.name);
    numbers.scratch.bytes.push_back(bytes);
    names.push_back(scratch.name);
  }
  if (auto fault = too_much_scratch(numbers)) return *std::move(fault);
  for (const auto& launch : plan.launches) {
    LaunchNumbers one;
    one.kernel = launch.kernel;
    KERF_TRY(one.grid, evaluate_extents(launch.grid, constants));
    KERF_TRY(one.block, evaluate_extents(launch.block, constants));
    KERF_TRY(one.shared_bytes, launch.shared_bytes.evaluate(constants));
    one.dimensions = static_cast<int>(std::max<std::size_t>({launch.grid.size(), launch.block.size(), 1}));
    if (!can_run(one)) {
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
