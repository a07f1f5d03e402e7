#pragma once
// What a task on a device is like: the facts by which experience of one is looked up for another.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"

namespace kerf::memory {

/// The device as far as kernels depend on it.
struct DeviceSignature {
  std::string name;  ///< the vendor's name
  std::string arch;  ///< what the compiler is told
  int compute_units = 0;
  double cache_bytes = 0;

  bool operator==(const DeviceSignature&) const = default;
};

struct TaskSignature {
  std::vector<std::string> words;  ///< operators, pairs of an operator and its argument's, functions, types; sorted
  std::string family;              ///< operator_family
  std::string target;
  std::string precision;
  std::vector<double> extents;  ///< log2 of: input elements, output elements, last extent of the largest input
  DeviceSignature device;

  bool operator==(const TaskSignature&) const = default;
};

/// Of the timed shape set with the largest weight. The task must have an expression.
TaskSignature signature_of(const Task& task, const std::string& target, DeviceSignature device);

/// In [0, 1]; 1 for the same operators, extents and device. Operators count by hashed features, so no list of known
/// words is needed; unlike ones cannot be made up for by equal extents or devices.
double similarity(const TaskSignature& a, const TaskSignature& b);

/// What the task does in words, without extents and device: what an embedding model is asked about.
std::string signature_text(const TaskSignature& signature);

std::string to_json(const TaskSignature& signature);
Result<TaskSignature> signature_from_json(std::string_view text);

}  // namespace kerf::memory
