#pragma once
// How much memory this machine can still give.

#include <cstdint>
#include <filesystem>
#include <string>

namespace kerf {

/// Bytes that can be allocated without swapping: what the kernel calls available, or what the control group of this
/// process leaves, whichever is less. The largest integer when neither can be read.
std::int64_t available_memory_bytes();

/// "MemAvailable:" of a meminfo text, in bytes; -1 when it is not there.
std::int64_t available_in_meminfo(const std::string& text);

std::string bytes_text(double bytes);  ///< "1.5 GiB", for messages

}  // namespace kerf
