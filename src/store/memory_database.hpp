#pragma once
// The file behind experiences and skills: one database for both, so that it is taken along, named and switched off as
// one.

#include <filesystem>

#include "base/result.hpp"
#include "store/database.hpp"

namespace kerf::store {

/// Makes the file where it is missing, with its folder, and takes it to `kMemorySchema`. A file of another kind or of a
/// newer Kerf is refused, in words that say how to go on.
Result<Database> open_memory_database(const std::filesystem::path& file);

}  // namespace kerf::store
