#include "store/run_store.hpp"

#include <fmt/format.h>

#include <set>

#include "store/database.hpp"
#include "store/event_log.hpp"
#include "store/folder_lock.hpp"
#include "store/migrations.hpp"
#include "store/step_rows.hpp"

namespace kerf {

using store::Database;
using store::EventLog;
using store::FolderLock;
using store::Transaction;

namespace fs = std::filesystem;

struct RunStore::Impl {
  fs::path folder;
  std::optional<FolderLock> lock;  // before the database: let go of last
  std::optional<Database> database;
  std::optional<EventLog> events;  // writers only

  Status need_writer() const {
    KERF_CHECK(events.has_value(), "a run opened for reading is not written to");
    return {};
  }

  /// Adds the line to the database, inside the caller's transaction.
  Status insert_event(const std::string& line) {
    auto row =
        database->prepare("INSERT INTO events (number, line) SELECT coalesce(max(number), 0) + 1, ? FROM events");
    return row.text(line).run();
  }

  Result<std::string> event_lines() {
    auto row = database->prepare("SELECT line FROM events ORDER BY number");
    for (std::string lines;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return lines;
      lines += row.column_text(0) + "\n";
    }
  }
};

namespace {

fs::path database_path(const fs::path& folder) { return folder / "kerf.db"; }

/// Nothing is there but what a creation that was cut short left behind.
Status check_unused(const fs::path& folder) {
  const std::set<std::string> ours = {store::kLockFile, "kerf.db", "kerf.db-wal", "kerf.db-shm", "kerf.db-journal"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!ours.contains(name))
      return fail(Errc::invalid_input,
                  fmt::format("{} is not empty (there is '{}'); choose another folder{}", folder.string(), name,
                              fs::exists(database_path(folder)) ? ", or continue that run with --resume" : ""));
  }
  if (error) return fail(Errc::io, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  return {};
}

}  // namespace

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunStore::~RunStore() = default;

Result<std::unique_ptr<RunStore>> RunStore::create(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Errc::io, fmt::format("cannot make {}: {}", folder.string(), error.message()));
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  KERF_TRY(FolderLock lock, FolderLock::take(folder));
  impl->lock.emplace(std::move(lock));
  KERF_TRY_VOID(check_unused(folder));
  KERF_TRY(Database database, Database::open(database_path(folder), Database::Mode::create));
  KERF_TRY(const auto version, database.integer("PRAGMA user_version"));
  if (version != 0)
    return fail(
        Errc::invalid_input,
        fmt::format("{} holds a run already; continue it with --resume or choose another folder", folder.string()));
  KERF_TRY_VOID(store::migrate(database, folder.string()));
  impl->database.emplace(std::move(database));
  KERF_TRY(EventLog events, EventLog::open(folder / "events.jsonl", ""));
  impl->events.emplace(std::move(events));
  return std::unique_ptr<RunStore>(new RunStore(std::move(impl)));
}

Result<std::unique_ptr<RunStore>> RunStore::open(const fs::path& folder, Access access) {
  std::error_code error;
  if (!fs::is_regular_file(database_path(folder), error))
    return fail(Errc::not_found, fmt::format("{} is not a run folder: it has no kerf.db", folder.string()));
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  if (access == Access::write) {
    KERF_TRY(FolderLock lock, FolderLock::take(folder));
    impl->lock.emplace(std::move(lock));
  }
  const auto mode = access == Access::write ? Database::Mode::write : Database::Mode::read;
  KERF_TRY(Database database, Database::open(database_path(folder), mode));
  if (access == Access::write) {
    KERF_TRY_VOID(store::migrate(database, folder.string()));
  } else {
    KERF_TRY_VOID(store::check_schema(database, folder.string()));
  }
  impl->database.emplace(std::move(database));
  if (access == Access::write) {
    KERF_TRY(const std::string lines, impl->event_lines());
    KERF_TRY(EventLog events, EventLog::open(folder / "events.jsonl", lines));
    impl->events.emplace(std::move(events));
  }
  return std::unique_ptr<RunStore>(new RunStore(std::move(impl)));
}

Status RunStore::append(const Step& step) {
  KERF_TRY_VOID(impl_->need_writer());
  KERF_TRY(Transaction transaction, Transaction::begin(*impl_->database));
  KERF_TRY(const auto last, impl_->database->integer("SELECT max(number) FROM steps"));
  KERF_CHECK(step.number == last + 1, "steps are numbered without gaps");
  KERF_TRY_VOID(store::insert_step(*impl_->database, step));
  const std::string line = store::step_event(step);
  KERF_TRY_VOID(impl_->insert_event(line));
  KERF_TRY_VOID(transaction.commit());
  return impl_->events->append(line);
}

Result<std::vector<Step>> RunStore::steps() const {
  std::vector<Step> steps;
  auto row = impl_->database->prepare(fmt::format("SELECT {} FROM steps ORDER BY number", store::kStepColumns));
  for (;;) {
    KERF_TRY(const bool more, row.step());
    if (!more) return steps;
    KERF_TRY(Step step, store::read_step(row));
    steps.push_back(std::move(step));
  }
}

Result<Step> RunStore::step(std::int64_t number) const {
  auto row = impl_->database->prepare(fmt::format("SELECT {} FROM steps WHERE number = ?", store::kStepColumns));
  row.integer(number);
  KERF_TRY(const bool found, row.step());
  if (found) return store::read_step(row);
  KERF_TRY(const auto last, impl_->database->integer("SELECT max(number) FROM steps"));
  return fail(Errc::not_found, last == 0 ? fmt::format("{} has no steps yet", folder().string())
                                         : fmt::format("there is no step {} in {}; its steps are 1 to {}", number,
                                                       folder().string(), last));
}

Status RunStore::set(const std::string& key, const std::string& value) {
  KERF_TRY_VOID(impl_->need_writer());
  auto row = impl_->database->prepare(
      "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  return row.text(key).text(value).run();
}

Result<std::optional<std::string>> RunStore::get(const std::string& key) const {
  auto row = impl_->database->prepare("SELECT value FROM facts WHERE key = ?");
  row.text(key);
  KERF_TRY(const bool found, row.step());
  return found ? std::optional(row.column_text(0)) : std::nullopt;
}

Result<std::map<std::string, std::string>> RunStore::facts() const {
  std::map<std::string, std::string> facts;
  auto row = impl_->database->prepare("SELECT key, value FROM facts");
  for (;;) {
    KERF_TRY(const bool more, row.step());
    if (!more) return facts;
    facts[row.column_text(0)] = row.column_text(1);
  }
}

Status RunStore::note(const std::string& kind, const std::map<std::string, std::string>& details) {
  KERF_TRY_VOID(impl_->need_writer());
  const std::string line = store::note_event(kind, details);
  KERF_TRY_VOID(impl_->insert_event(line));
  return impl_->events->append(line);
}

const fs::path& RunStore::folder() const { return impl_->folder; }

}  // namespace kerf
