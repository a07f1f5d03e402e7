#pragma once
// The database's schema as numbered steps, from the files of migrations/ that are built into the program.

#include <string_view>

#include "base/result.hpp"
#include "store/database.hpp"

namespace kerf::store {

/// Takes the database to `kStoreSchema`, one transaction per migration. Refuses a database of a newer schema; `where`
/// names it in errors.
Status migrate(Database& database, std::string_view where);

/// Refuses any schema but `kStoreSchema`; for readers, who may not change anything.
Status check_schema(Database& database, std::string_view where);

}  // namespace kerf::store
