#include "store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <limits>
#include <utility>

namespace kerf::store {
namespace {

constexpr int kBusyMs = 10'000;  // readers wait this long for a checkpoint, and the other way round

tl::unexpected<Error> failure(sqlite3* database) {
  const int code = sqlite3_errcode(database) & 0xFF;
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;  // ERROR: no such table
  return fail(damaged ? Errc::invalid_input : Errc::io, fmt::format("database: {}", sqlite3_errmsg(database)));
}

/// A file name in a URI: everything but plain characters is escaped.
std::string escape_uri(const std::string& path) {
  std::string text;
  for (const unsigned char c : path)
    if (std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_')
      text += static_cast<char>(c);
    else
      text += fmt::format("%{:02x}", c);
  return text;
}

/// What is in the file already counts, and nothing beside it may be written. Only right without a write-ahead log.
bool is_closed(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path.string() + "-wal", error);
  return error || size == 0;
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      parameter_(other.parameter_),
      error_(other.error_) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::keep(int code) {
  if (error_ == SQLITE_OK) error_ = code;
}

Statement& Statement::text(std::string_view value) {
  const char* bytes = value.data() == nullptr ? "" : value.data();
  keep(sqlite3_bind_text64(statement_, ++parameter_, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::blob(std::string_view value) {
  const char* bytes = value.data() == nullptr ? "" : value.data();
  keep(sqlite3_bind_blob64(statement_, ++parameter_, bytes, value.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::integer(std::int64_t value) {
  keep(sqlite3_bind_int64(statement_, ++parameter_, value));
  return *this;
}

Statement& Statement::real(double value) {
  keep(sqlite3_bind_double(statement_, ++parameter_, value));
  return *this;
}

Result<bool> Statement::step() {
  if (error_ != SQLITE_OK) return failure(database_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(database_);
}

Status Statement::run() {
  KERF_TRY(const bool row, step());
  KERF_CHECK(!row, "a statement without result gave a row");
  return {};
}

std::string Statement::column_text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);  // before the size, as the library asks
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::int64_t Statement::column_integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::column_real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_, column);
}

Result<Database> Database::open(const std::filesystem::path& path, Mode mode) {
  const auto connect = [&](const std::string& options, int flags) -> Result<Database> {
    sqlite3* handle = nullptr;
    const std::string name = "file:" + escape_uri(std::filesystem::absolute(path).string()) + options;
    const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_URI, nullptr);
    Database database(handle);
    if (code != SQLITE_OK)
      return fail(Errc::io, fmt::format("cannot open {}: {}", path.string(), sqlite3_errmsg(handle)));
    sqlite3_busy_timeout(handle, kBusyMs);
    if (auto status = database.execute("PRAGMA foreign_keys = ON; SELECT count(*) FROM sqlite_master"); !status)
      return fail(status.error().code, fmt::format("cannot read {}: {}", path.string(), status.error().message));
    return database;
  };
  if (mode == Mode::read) {
    // A log needs files beside the database even for reading. Where nobody has it open for writing there is none, and
    // reading leaves the folder as it is.
    return connect(is_closed(path) ? "?immutable=1" : "", SQLITE_OPEN_READONLY);
  }
  KERF_TRY(Database database, connect("", SQLITE_OPEN_READWRITE | (mode == Mode::create ? SQLITE_OPEN_CREATE : 0)));
  // FULL: a commit is on the disk when it returns, so a reported step survives a power cut too. That is one fsync a
  // step, milliseconds against an evaluation's tenths of a second.
  KERF_TRY_VOID(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  return database;
}

Database::Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Database::~Database() { sqlite3_close(handle_); }

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  return {handle_, statement, code};
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failure(handle_);
  return {};
}

Result<std::int64_t> Database::integer(const std::string& sql) {
  auto statement = prepare(sql);
  KERF_TRY(const bool row, statement.step());
  return row ? statement.column_integer(0) : 0;
}

Result<Transaction> Transaction::begin(Database& database) {
  KERF_TRY_VOID(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  KERF_TRY_VOID(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace kerf::store
