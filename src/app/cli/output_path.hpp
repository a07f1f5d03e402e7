#pragma once
// Whether a place can be written to: asked before the work whose result goes there.

#include <filesystem>

#include "base/result.hpp"

namespace kerf::cli {

/// An error (invalid_input) when no file can be written at `path`, whose missing parent folders would be made, but
/// none at the top of the file system; "" is fine: nothing goes there. Leaves nothing behind.
Status check_output_file(const std::filesystem::path& path);

/// Likewise for files in the folder `path`, which need not be there.
Status check_output_folder(const std::filesystem::path& path);

}  // namespace kerf::cli
