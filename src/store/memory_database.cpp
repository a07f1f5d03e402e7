#include "store/memory_database.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/version.hpp"
#include "memory/memory_store.hpp"

namespace kerf::store_memory {

/// Generated: path and text of every migration, by number.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

}  // namespace kerf::store_memory

namespace kerf::store {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMemoryMark = 0x4b52464d;  // PRAGMA application_id: "KRFM"

Status check_memory_file(Database& database, const fs::path& file) {
  KERF_TRY(const auto mark, database.integer("PRAGMA application_id"));
  KERF_TRY(const auto version, database.integer("PRAGMA user_version"));
  KERF_TRY(const auto tables, database.integer("SELECT count(*) FROM sqlite_master"));
  if (mark != kMemoryMark && (version != 0 || tables != 0))
    return fail(Errc::invalid_input,
                fmt::format("{} is a database, but not a memory; name another file", file.string()));
  if (version > kMemorySchema)
    return fail(Errc::invalid_input,
                fmt::format("{} was written by a newer kerf (schema {}, this is kerf {} with schema {}); use that one",
                            file.string(), version, kKerfVersion, kMemorySchema));
  return {};
}

Status migrate_memory(Database& database, const fs::path& file) {
  KERF_TRY_VOID(check_memory_file(database, file));
  const auto files = store_memory::embedded_files();
  KERF_CHECK(files.size() == static_cast<std::size_t>(kMemorySchema), "one migration per schema version");
  KERF_TRY(auto version, database.integer("PRAGMA user_version"));
  if (version == kMemorySchema) return {};
  KERF_TRY(Transaction transaction, Transaction::begin(database));
  KERF_TRY(version, database.integer("PRAGMA user_version"));  // another process may have been first
  for (; version < kMemorySchema; ++version)
    KERF_TRY_VOID(database.execute(std::string(files[static_cast<std::size_t>(version)].second)));
  KERF_TRY_VOID(database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kMemoryMark, kMemorySchema)));
  return transaction.commit();
}

}  // namespace

Result<Database> open_memory_database(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error))
    return fail(Errc::invalid_input, fmt::format("{} is a folder; a memory is a file", file.string()));
  error.clear();
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) return fail(Errc::io, fmt::format("cannot make {}: {}", file.parent_path().string(), error.message()));
  const auto named = [&](const Error& cause) {
    return fail(cause.code, fmt::format("the memory cannot be used: {}; move the file away, name another one, or go on "
                                        "with --memory off",
                                        cause.message));
  };
  if (fs::exists(file, error)) {  // looked at before anything is written to it
    auto found = Database::open(file, Database::Mode::read);
    if (!found) return named(found.error());
    if (const Status ours = check_memory_file(*found, file); !ours) return named(ours.error());
  }
  auto opened = Database::open(file, Database::Mode::create);
  if (!opened) return named(opened.error());
  if (const Status ready = migrate_memory(*opened, file); !ready) return named(ready.error());
  return *std::move(opened);
}

}  // namespace kerf::store
