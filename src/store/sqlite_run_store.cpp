// Runs in SQLite.

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

#include "store/database.hpp"
#include "store/event_log.hpp"
#include "store/folder_lock.hpp"
#include "store/migrations.hpp"
#include "store/run_store.hpp"
#include "store/step_checks.hpp"
#include "store/step_rows.hpp"

namespace kerf {

using store::Database;
using store::EventLog;
using store::FolderLock;
using store::Transaction;

namespace fs = std::filesystem;

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

/// The names of the files that a run writes into its folder.
bool is_run_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == store::kLockFile || name == "events.jsonl" || name == "run.toml" || name.starts_with("kerf.db") ||
         name.starts_with("best.") || name.starts_with("naive.");
}

void remove_run_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_run_file(entry.path())) found.push_back(entry.path());
  for (const auto& path : found) fs::remove(path, error);
}

/// Which file a path leads to.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  static FileIdentity of(const fs::path& path) {
    struct stat found = {};
    return ::stat(path.c_str(), &found) == 0 ? FileIdentity{found.st_dev, found.st_ino} : FileIdentity{};
  }
  bool operator==(const FileIdentity&) const = default;
};

/// What a store holds while it is open.
struct Parts {
  fs::path folder;
  FileIdentity identity;           // of the database
  std::optional<FolderLock> lock;  // before the database: let go of last
  std::optional<Database> database;
  std::optional<EventLog> events;      // writers only
  std::int64_t schema = kStoreSchema;  // readers may meet an older one
};

class SqliteRunStore final : public RunStore {
 public:
  explicit SqliteRunStore(Parts parts) : parts_(std::move(parts)) {}

  Status record(const RunEvent& event) override {
    KERF_CHECK(parts_.events.has_value(), "a run opened for reading is not written to");
    const auto* finished = std::get_if<StepFinished>(&event);
    if (finished == nullptr && !std::holds_alternative<RunMark>(event)) return {};
    if (FileIdentity::of(database_path(folder())) != parts_.identity)
      return fail(Errc::io,
                  fmt::format("{} was moved or removed while the run was written; what was reported is in it, "
                              "and 'kerf optimize --resume' goes on where it is now",
                              folder().string()));
    if (Status written = write(event, finished); !written)
      return fail(written.error().code,
                  fmt::format("{}: {}; what was reported before is kept, and 'kerf optimize --resume' goes on from it",
                              folder().string(), written.error().message));
    return {};
  }

  Status write(const RunEvent& event, const StepFinished* finished) {
    KERF_TRY(Transaction transaction, Transaction::begin(*parts_.database));
    if (finished != nullptr) {
      KERF_TRY(const auto last, parts_.database->integer("SELECT max(number) FROM steps"));
      KERF_CHECK(finished->step.number == last + 1, "steps are numbered without gaps");
      KERF_TRY_VOID(store::insert_step(*parts_.database, finished->step));
    }
    const std::string line = to_json(event);
    auto row = parts_.database->prepare(
        "INSERT INTO events (number, line) SELECT coalesce(max(number), 0) + 1, ? FROM events");
    KERF_TRY_VOID(row.text(line).run());
    KERF_TRY_VOID(transaction.commit());
    return parts_.events->append(line);
  }

  Result<std::vector<Step>> steps() const override {
    std::vector<Step> steps;
    auto row = parts_.database->prepare(
        fmt::format("SELECT {} FROM steps ORDER BY number", store::step_columns(parts_.schema)));
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) break;
      auto step = store::read_step(row);
      if (!step) return store::damaged(folder().string(), step.error().message);
      steps.push_back(*std::move(step));
    }
    KERF_TRY_VOID(store::check_steps(steps, folder().string()));
    return steps;
  }

  Result<Step> step(std::int64_t number) const override {
    auto row = parts_.database->prepare(
        fmt::format("SELECT {} FROM steps WHERE number = ?", store::step_columns(parts_.schema)));
    row.integer(number);
    KERF_TRY(const bool found, row.step());
    if (found) {
      auto step = store::read_step(row);
      if (!step) return store::damaged(folder().string(), step.error().message);
      if (const std::string wrong = store::wrong_step(*step); !wrong.empty())
        return store::damaged(folder().string(), fmt::format("step {} {}", number, wrong));
      return step;
    }
    KERF_TRY(const auto last, parts_.database->integer("SELECT max(number) FROM steps"));
    return fail(Errc::not_found, last == 0 ? fmt::format("{} has no steps yet", folder().string())
                                           : fmt::format("there is no step {} in {}; its steps are 1 to {}", number,
                                                         folder().string(), last));
  }

  Result<std::vector<Exchange>> exchanges(std::int64_t number) const override {
    std::vector<Exchange> exchanges;
    if (parts_.schema < 3) return exchanges;
    auto row = parts_.database->prepare("SELECT exchange FROM exchanges WHERE step = ? ORDER BY position");
    row.integer(number);
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return exchanges;
      KERF_TRY(Exchange exchange, exchange_from_json(row.column_text(0)));
      exchanges.push_back(std::move(exchange));
    }
  }

  Status set(const std::string& key, const std::string& value) override {
    KERF_CHECK(parts_.events.has_value(), "a run opened for reading is not written to");
    auto row = parts_.database->prepare(
        "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
    return row.text(key).text(value).run();
  }

  Result<std::map<std::string, std::string>> facts() const override {
    std::map<std::string, std::string> facts;
    auto row = parts_.database->prepare("SELECT key, value FROM facts");
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return facts;
      facts[row.column_text(0)] = row.column_text(1);
    }
  }

  const fs::path& folder() const override { return parts_.folder; }

 private:
  mutable Parts parts_;  // reading prepares statements
};

Result<std::string> event_lines(Database& database) {
  auto row = database.prepare("SELECT line FROM events ORDER BY number");
  for (std::string lines;;) {
    KERF_TRY(const bool more, row.step());
    if (!more) return lines;
    lines += row.column_text(0) + "\n";
  }
}

}  // namespace

Result<std::optional<std::string>> RunStore::get(const std::string& key) const {
  KERF_TRY(const auto all, facts());
  const auto found = all.find(key);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

void discard_run(const RunStore& run) { remove_run_files(run.folder()); }

Result<std::unique_ptr<RunStore>> create_run_store(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Errc::io, fmt::format("cannot make {}: {}", folder.string(), error.message()));
  Parts parts;
  parts.folder = folder;
  KERF_TRY(FolderLock lock, FolderLock::take(folder));
  parts.lock.emplace(std::move(lock));
  KERF_TRY_VOID(check_unused(folder));
  const bool was_there = fs::exists(database_path(folder), error);
  Status made = [&]() -> Status {
    KERF_TRY(Database database, Database::open(database_path(folder), Database::Mode::create));
    KERF_TRY(const auto version, database.integer("PRAGMA user_version"));
    if (version != 0)
      return fail(
          Errc::invalid_input,
          fmt::format("{} holds a run already; continue it with --resume or choose another folder", folder.string()));
    KERF_TRY_VOID(store::migrate(database, folder.string()));
    parts.database.emplace(std::move(database));
    parts.identity = FileIdentity::of(database_path(folder));
    KERF_TRY(EventLog events, EventLog::open(folder / "events.jsonl", ""));
    parts.events.emplace(std::move(events));
    return {};
  }();
  if (!made) {
    if (!was_there) remove_run_files(folder);  // they are of this process, which holds the lock
    if (made.error().code == Errc::invalid_input) return tl::unexpected<Error>(std::move(made).error());
    return fail(made.error().code, fmt::format("no run can begin in {}: {}; free some space there, or choose another "
                                               "folder",
                                               folder.string(), made.error().message));
  }
  return std::make_unique<SqliteRunStore>(std::move(parts));
}

Result<std::unique_ptr<RunStore>> open_run_store(const fs::path& folder, RunStore::Access access) {
  std::error_code error;
  if (!fs::is_regular_file(database_path(folder), error))
    return fail(Errc::not_found, fmt::format("{} is not a run folder: it has no kerf.db", folder.string()));
  Parts parts;
  parts.folder = folder;
  const bool write = access == RunStore::Access::write;
  if (write) {
    KERF_TRY(FolderLock lock, FolderLock::take(folder));
    parts.lock.emplace(std::move(lock));
  }
  KERF_TRY(Database database,
           Database::open(database_path(folder), write ? Database::Mode::write : Database::Mode::read));
  if (write) {
    KERF_TRY_VOID(store::migrate(database, folder.string()));
  } else {
    KERF_TRY(parts.schema, store::readable_schema(database, folder.string()));
  }
  parts.database.emplace(std::move(database));
  parts.identity = FileIdentity::of(database_path(folder));
  if (write) {
    KERF_TRY(const std::string lines, event_lines(*parts.database));
    KERF_TRY(EventLog events, EventLog::open(folder / "events.jsonl", lines));
    parts.events.emplace(std::move(events));
  }
  return std::make_unique<SqliteRunStore>(std::move(parts));
}

}  // namespace kerf
