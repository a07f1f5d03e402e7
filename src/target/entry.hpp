#pragma once
// What a target contributes to the list in all_targets.cpp. Private to this room.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "target/target.hpp"

namespace kerf {

struct WorkerEntry {
  std::string kind;  ///< of `kerf worker KIND`
  int (*main)(std::span<const std::string> args) = nullptr;
};

struct TargetEntry {
  TargetDescription description;
  std::function<Result<Target>(const TargetResources&, const std::string& device, bool compile_only)> make;
  std::function<std::vector<Finding>(const TargetResources&)> diagnose;
  std::vector<WorkerEntry> workers;
};

TargetEntry cpu_target();
TargetEntry opencl_target();
TargetEntry cuda_target();

/// N of "KIND:N"; 0 for "". An error says what is accepted.
Result<int> device_index(const std::string& device, const std::string& kind);

}  // namespace kerf
