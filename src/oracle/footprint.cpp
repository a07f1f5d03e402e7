#include "oracle/footprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/memory.hpp"
#include "base/text.hpp"

namespace kerf::oracle {
namespace {

constexpr double kExpected = 2 * sizeof(double);  // bytes per element of an output: its value and its bound
constexpr std::size_t kNamed = 3;                 // tensors that a message names

struct Part {
  std::string text;
  double bytes = 0;
};

Result<std::vector<Part>> parts_of(const Task& task, const ShapeSet& shape) {
  std::vector<Part> parts;
  for (const bool output : {false, true})
    for (const auto& tensor : output ? task.outputs : task.inputs) {
      KERF_TRY(const auto extents, evaluate(tensor.shape, shape.symbols));
      double bytes = output ? kExpected : static_cast<double>(dtype_size(tensor.dtype));
      std::vector<std::string> texts;
      for (const auto extent : extents) {
        bytes *= static_cast<double>(extent);
        texts.push_back(std::to_string(extent));
      }
      parts.push_back({fmt::format("{}{} {}[{}]", output ? "the expected values of " : "", tensor.name,
                                   dtype_name(tensor.dtype), join(texts, ", ")),
                       bytes});
    }
  return parts;
}

}  // namespace

Result<double> data_bytes(const Task& task, const ShapeSet& shape) {
  KERF_TRY(const auto parts, parts_of(task, shape));
  double bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  return bytes;
}

Status check_memory(const Task& task, const ShapeSet& shape, std::int64_t available) {
  KERF_TRY(auto parts, parts_of(task, shape));
  double bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  if (bytes <= static_cast<double>(available)) return {};
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.bytes > b.bytes; });
  parts.resize(std::min(parts.size(), kNamed));
  std::vector<std::string> largest;
  for (const Part& part : parts) largest.push_back(fmt::format("{} takes {}", part.text, bytes_text(part.bytes)));
  return fail(Errc::unavailable,
              fmt::format("shape set '{}' of task {} is too large for this machine: one set of its data takes {}, {} "
                          "are free ({}); make the shape set smaller, or use a machine with more memory",
                          shape.name, task.name, bytes_text(bytes), bytes_text(static_cast<double>(available)),
                          join(largest, ", ")));
}

}  // namespace kerf::oracle
