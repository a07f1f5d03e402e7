#include "store/migrations.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/version.hpp"
#include "store/run_store.hpp"

namespace kerf::store {

/// Generated: path and text of every migration, by number.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

Status refuse_newer(std::int64_t version, std::string_view where) {
  if (version <= kStoreSchema) return {};
  return fail(Errc::invalid_input,
              fmt::format("{} was written by a newer kerf (schema {}, this is kerf {} with schema {}); use that one",
                          where, version, kKerfVersion, kStoreSchema));
}

}  // namespace

Status migrate(Database& database, std::string_view where) {
  const auto files = embedded_files();
  KERF_CHECK(files.size() == static_cast<std::size_t>(kStoreSchema), "one migration per schema version");
  KERF_TRY(auto version, database.integer("PRAGMA user_version"));
  KERF_TRY_VOID(refuse_newer(version, where));
  for (; version < kStoreSchema; ++version) {
    KERF_TRY(Transaction transaction, Transaction::begin(database));
    KERF_TRY_VOID(database.execute(std::string(files[static_cast<std::size_t>(version)].second)));
    KERF_TRY_VOID(database.execute(fmt::format("PRAGMA user_version = {}", version + 1)));
    KERF_TRY_VOID(transaction.commit());
  }
  return {};
}

Result<std::int64_t> readable_schema(Database& database, std::string_view where) {
  KERF_TRY(const auto version, database.integer("PRAGMA user_version"));
  KERF_TRY_VOID(refuse_newer(version, where));
  if (version == 0) return fail(Errc::invalid_input, fmt::format("{} is empty: the run never began", where));
  return version;
}

}  // namespace kerf::store
