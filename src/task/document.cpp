#include "task/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/text.hpp"
#include "base/toml_library.hpp"
#include "base/toml_text.hpp"

namespace kerf::task {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

Place place_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Status check_text(const Source& source) {
  const auto found = toml_fault(source.text);
  if (!found) return {};
  const auto before = source.text.substr(0, found->at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return source.error({static_cast<int>(line), static_cast<int>(column)}, found->what);
}

Result<Value> convert(const Source& source, const toml::node& node);

Result<Table> convert_table(const Source& source, const toml::table& table) {
  Table entries;
  for (const auto& [key, node] : table) {
    KERF_TRY(Value value, convert(source, node));
    entries.push_back({std::string(key.str()), place_of(key.source()), std::move(value)});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return entries;
}

Result<Value> convert(const Source& source, const toml::node& node) {
  Value value;
  value.place = place_of(node.source());
  if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.data = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.data = flag->get();
  } else if (const auto* table = node.as_table()) {
    KERF_TRY(value.data, convert_table(source, *table));
  } else if (const auto* array = node.as_array()) {
    Array elements;
    for (const auto& element : *array) {
      KERF_TRY(Value converted, convert(source, element));
      elements.push_back(std::move(converted));
    }
    value.data = std::move(elements);
  } else {
    return source.error(value.place, "dates and times have no meaning here");
  }
  return value;
}

/// The value's content when it has the type T.
template <class T>
Result<T> as(const Source& source, const Value& value, std::string_view what, std::string_view expected) {
  if (const T* content = std::get_if<T>(&value.data)) return *content;
  return source.error(value.place, fmt::format("{} must be {}", what, expected));
}

}  // namespace

tl::unexpected<Error> Source::error(Place place, std::string_view message) const {
  if (place.line == 0) return fail(Errc::invalid_input, fmt::format("{}: {}", file, message));
  return fail(Errc::invalid_input, fmt::format("{}:{}:{}: {}", file, place.line, place.column, message));
}

Result<Table> parse_toml(const Source& source) {
  if (source.text.size() > kMaxBytes) return source.error({}, fmt::format("larger than {} bytes", kMaxBytes));
  KERF_TRY_VOID(check_text(source));
  const toml::parse_result parsed = toml::parse(source.text);
  if (!parsed) return source.error(place_of(parsed.error().source()), parsed.error().description());
  return convert_table(source, parsed.table());
}

const Value* find(const Table& table, std::string_view key) {
  const auto entry = std::find_if(table.begin(), table.end(), [&](const Entry& e) { return e.key == key; });
  return entry == table.end() ? nullptr : &entry->value;
}

Place entry_place(const Table& root, std::string_view table, std::string_view key) {
  const Value* value = find(root, table);
  if (value == nullptr) return {};
  if (const auto* entries = std::get_if<Table>(&value->data))
    for (const Entry& entry : *entries)
      if (entry.key == key) return entry.place;
  return value->place;
}

Status check_keys(const Source& source, const Table& table, std::string_view where,
                  const std::vector<std::string>& known) {
  for (const auto& entry : table) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    return source.error(entry.place,
                        fmt::format("unknown key '{}'{}{}{}; choose one of: {}", entry.key, where.empty() ? "" : " in ",
                                    where, did_you_mean(entry.key, known), join(known, ", ")));
  }
  return {};
}

Result<std::string> as_text(const Source& source, const Value& value, std::string_view what) {
  return as<std::string>(source, value, what, "a text in quotes");
}

Result<bool> as_bool(const Source& source, const Value& value, std::string_view what) {
  return as<bool>(source, value, what, "true or false");
}

Result<std::int64_t> as_integer(const Source& source, const Value& value, std::string_view what) {
  return as<std::int64_t>(source, value, what, "an integer");
}

Result<double> as_number(const Source& source, const Value& value, std::string_view what) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  KERF_TRY(const double number, as<double>(source, value, what, "a number"));
  if (!std::isfinite(number)) return source.error(value.place, fmt::format("{} must be a finite number", what));
  return number;
}

Result<std::vector<std::string>> as_text_list(const Source& source, const Value& value, std::string_view what) {
  KERF_TRY(const Array array, as<Array>(source, value, what, "a list of texts, such as [\"y\"]"));
  std::vector<std::string> texts;
  for (const auto& element : array) {
    KERF_TRY(std::string text, as_text(source, element, fmt::format("each element of {}", what)));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<const Table*> as_table(const Source& source, const Value& value, std::string_view what) {
  if (const auto* table = std::get_if<Table>(&value.data)) return table;
  return source.error(value.place, fmt::format("{} must be a table", what));
}

}  // namespace kerf::task
