#include "device/cuda/concrete_plan.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::cuda {
namespace {

Result<std::uint64_t> extent(const Dim& dim, const Bindings& constants, const std::string& what) {
  KERF_TRY(const std::int64_t value, dim.evaluate(constants));
  if (value < 0) return fail(Errc::tool_failed, fmt::format("{} is {} ({})", what, value, dim.to_string()));
  return static_cast<std::uint64_t>(value);
}

Result<std::array<std::uint64_t, 3>> extents(const std::vector<Dim>& dims, const Bindings& constants,
                                             const std::string& what) {
  std::array<std::uint64_t, 3> numbers{1, 1, 1};
  if (dims.empty() || dims.size() > 3)
    return fail(Errc::invalid_input, fmt::format("{} has {} extents, not 1 to 3", what, dims.size()));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    KERF_TRY(numbers[d], extent(dims[d], constants, what));
  }
  return numbers;
}

}  // namespace

std::uint64_t bytes_of(const BufferSpec& buffer) {
  std::uint64_t bytes = dtype_size(buffer.dtype);
  for (const auto size : buffer.shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

Result<ConcretePlan> evaluate_plan(const LaunchPlan& plan, const Bindings& constants,
                                   const std::vector<std::string>& buffers) {
  ConcretePlan numbers;
  std::vector<std::string> names = buffers;
  for (const auto& scratch : plan.scratch) {
    KERF_TRY(const auto count,
             extent(element_count(scratch.shape), constants, fmt::format("the size of scratch '{}'", scratch.name)));
    numbers.scratch_bytes.push_back(count * dtype_size(scratch.dtype));
    numbers.scratch_names.push_back(scratch.name);
    names.push_back(scratch.name);
  }
  for (const auto& launch : plan.launches) {
    LaunchNumbers made;
    made.kernel = launch.kernel;
    KERF_TRY(made.grid, extents(launch.grid, constants, fmt::format("the grid of '{}'", launch.kernel)));
    KERF_TRY(made.block, extents(launch.block, constants, fmt::format("the block of '{}'", launch.kernel)));
    KERF_TRY(made.shared_bytes,
             extent(launch.shared_bytes, constants, fmt::format("shared memory of '{}'", launch.kernel)));
    for (const auto& name : launch.args) {
      const auto it = std::find(names.begin(), names.end(), name);
      if (it == names.end()) {
        return fail(Errc::invalid_input,
                    fmt::format("launch of '{}': no buffer '{}'{}", launch.kernel, name, did_you_mean(name, names)));
      }
      made.args.push_back(static_cast<std::uint64_t>(it - names.begin()));
    }
    numbers.launches.push_back(std::move(made));
  }
  return numbers;
}

}  // namespace kerf::cuda
