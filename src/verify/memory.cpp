#include "verify/memory.hpp"

#include <fmt/format.h>

#include "base/memory.hpp"

namespace kerf {
namespace {

/// Of one buffer in one slot: red zones and the pages they are rounded up to.
constexpr double kZoneBytes = 4 * 4096;

double elements(const ir::TensorType& tensor, const ShapeSet& shape) {
  const auto count = element_count(tensor.shape).evaluate(shape.symbols);
  return count ? static_cast<double>(*count) : 0;
}

std::string advice(const ShapeSet& shape) {
  return fmt::format(
      "Make the extents of shape '{}' smaller, judge another shape (kerf eval --shape NAME), or use a machine with "
      "more memory",
      shape.name);
}

}  // namespace

MemoryNeed memory_need(const Task& task, const ShapeSet& shape, int slots, int host_sets) {
  double buffers = 0, set = 0;
  for (const ir::TensorType& input : task.inputs) {
    const double bytes = elements(input, shape) * static_cast<double>(dtype_size(input.dtype));
    buffers += bytes + kZoneBytes;
    set += bytes;
  }
  for (const ir::TensorType& output : task.outputs) {
    buffers += elements(output, shape) * static_cast<double>(dtype_size(output.dtype)) + kZoneBytes;
    set += elements(output, shape) * 2 * sizeof(double);
  }
  return {host_sets * set, slots * buffers};
}

Status check_memory(const ShapeSet& shape, const MemoryNeed& need, const MemoryThere& there) {
  const double host = need.host + (there.shared ? need.device : 0);
  const bool host_fits = there.host <= 0 || host <= static_cast<double>(there.host);
  const bool device_fits = there.shared || there.device <= 0 || need.device <= static_cast<double>(there.device);
  if (host_fits && device_fits) return {};
  return tl::unexpected<Error>(out_of_memory(shape, need, there));
}

Error out_of_memory(const ShapeSet& shape, const MemoryNeed& need, const MemoryThere& there) {
  const double host = need.host + (there.shared ? need.device : 0);
  const bool device = !there.shared && there.device > 0 && need.device > static_cast<double>(there.device);
  const std::string have =
      device ? fmt::format("the device has {}", bytes_text(static_cast<double>(there.device)))
             : (there.host > 0 ? fmt::format("{} are free", bytes_text(static_cast<double>(there.host)))
                               : std::string("the machine does not give it"));
  const std::string parts = need.device > 0
                                ? fmt::format(" ({} for data and expected values, {} for copies of the buffers)",
                                              bytes_text(need.host), bytes_text(need.device))
                                : "";
  return {Errc::invalid_input,
          fmt::format("shape '{}' does not fit into memory: judging it takes at least {}{}, {}. {}", shape.name,
                      bytes_text(device ? need.device : host), parts, have, advice(shape))};
}

}  // namespace kerf
