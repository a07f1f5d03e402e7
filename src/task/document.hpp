#pragma once
// A configuration file as a tree of values that know where they stand; keys keep the order of the file.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace kerf::task {

/// Line and column, both from 1; 0 when unknown.
struct Place {
  int line = 0;
  int column = 0;
};

struct Entry;
struct Value;
using Table = std::vector<Entry>;
using Array = std::vector<Value>;

struct Value {
  std::variant<std::string, std::int64_t, double, bool, Array, Table> data;
  Place place;
};

struct Entry {
  std::string key;
  Place place;  ///< of the key
  Value value;
};

/// The text of one file, for messages.
struct Source {
  std::string file;
  std::string_view text;

  /// "tasks/softmax.toml:4:9: message".
  tl::unexpected<Error> error(Place place, std::string_view message) const;
};

/// Parses TOML. Errors (syntax, dates, more than 1 MiB) are placed.
Result<Table> parse_toml(const Source& source);

/// The entry's value, or null.
const Value* find(const Table& table, std::string_view key);

/// Where `key` stands in the table `table` of `root`; where the table stands when it has no such key; unknown without
/// it.
Place entry_place(const Table& root, std::string_view table, std::string_view key);

/// An error for the first key of `table` that is not in `known`, with the nearest known one. `where` is "[reference]"
/// or "".
Status check_keys(const Source& source, const Table& table, std::string_view where,
                  const std::vector<std::string>& known);

/// The value as text, table, ... or an error that says what was expected of `what`.
Result<std::string> as_text(const Source& source, const Value& value, std::string_view what);
Result<bool> as_bool(const Source& source, const Value& value, std::string_view what);
Result<std::int64_t> as_integer(const Source& source, const Value& value, std::string_view what);
Result<double> as_number(const Source& source, const Value& value, std::string_view what);
Result<std::vector<std::string>> as_text_list(const Source& source, const Value& value, std::string_view what);
/// Borrows from `value`.
Result<const Table*> as_table(const Source& source, const Value& value, std::string_view what);

}  // namespace kerf::task
