#pragma once
// Whole-file reads and atomic writes.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kerf {

Result<std::string> read_file(const std::filesystem::path& path);

/// Writes beside `path` and renames, so a reader sees the old file or the whole new one. Creates parent folders. A
/// device or pipe is written in place.
Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

}  // namespace kerf
