#pragma once
// The database's schema as numbered steps, from the files of migrations/ that are built into the program.

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "store/database.hpp"

namespace kerf::store {

/// Takes the database to `kStoreSchema`, one transaction per migration. Refuses a database of a newer schema; `where`
/// names it in errors.
Status migrate(Database& database, std::string_view where);

/// The database's schema, for readers, who may not change anything: every version up to `kStoreSchema` can be read.
Result<std::int64_t> readable_schema(Database& database, std::string_view where);

}  // namespace kerf::store
