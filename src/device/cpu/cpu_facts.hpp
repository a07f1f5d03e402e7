#pragma once
// The processor, as the operating system describes it.

#include <filesystem>

#include "device/device.hpp"

namespace kerf {

/// `root` is "/" but for tests. What cannot be read is left at its default.
DeviceFacts read_cpu_facts(const std::filesystem::path& root = "/");

}  // namespace kerf
