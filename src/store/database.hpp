#pragma once
// SQLite behind two small classes: errors as values, no type of the library in sight.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace kerf::store {

class Database;

/// A prepared statement with its parameters. Borrows the database.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Parameters in order of appearance. Text may hold any bytes.
  Statement& text(std::string_view value);
  Statement& blob(std::string_view value);
  Statement& integer(std::int64_t value);
  Statement& real(double value);  ///< NaN is stored as null

  /// True: a row is there. False: done.
  Result<bool> step();
  /// Runs a statement that gives no rows.
  Status run();

  std::string column_text(int column) const;
  std::int64_t column_integer(int column) const;
  double column_real(int column) const;  ///< null as NaN

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* statement, int error)
      : database_(database), statement_(statement), error_(error) {}
  void keep(int code);

  sqlite3* database_;
  sqlite3_stmt* statement_;
  int parameter_ = 0;
  int error_;  ///< of preparing and binding; reported by `step`
};

/// One connection. Not thread-safe.
class Database {
 public:
  enum class Mode { create, write, read };

  /// `create` makes the file when it is missing. Writers use a write-ahead log, so that readers go on beside them.
  static Result<Database> open(const std::filesystem::path& path, Mode mode);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  Statement prepare(std::string_view sql);
  /// One or several statements without parameters.
  Status execute(const std::string& sql);
  Result<std::int64_t> integer(const std::string& sql);

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
};

/// Rolls back unless it was committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;  // null: done
};

}  // namespace kerf::store
