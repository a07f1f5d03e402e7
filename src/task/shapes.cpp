#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.hpp"
#include "model/names.hpp"
#include "task/reader.hpp"

namespace kerf::task {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Keys of a shape set that are no symbols.
const std::vector<std::string> kOwnKeys{"weight", "targets"};

/// Means over shapes stay exact between these.
constexpr double kLeastWeight = 1e-6, kMostWeight = 1e6;

Result<ShapeSet> read_set(const Source& source, const Entry& entry, bool& has_weight) {
  ShapeSet set;
  set.name = entry.key;
  if (!is_identifier(set.name) || set.name.size() > 64)
    return source.error(entry.place,
                        fmt::format("shape set '{}' is not a name: use letters, digits and '_'", set.name));
  KERF_TRY(const Table* table, as_table(source, entry.value, fmt::format("shape set '{}'", set.name)));
  if (table->size() > kMaxSymbols) return source.error(entry.place, fmt::format("more than {} symbols", kMaxSymbols));
  for (const auto& [key, place, value] : *table) {
    const std::string what = fmt::format("'{}' of shape set '{}'", key, set.name);
    if (key == "weight") {
      KERF_TRY(set.weight, as_number(source, value, what));
      if (set.weight < 0) return source.error(value.place, fmt::format("{} is negative", what));
      if (set.weight != 0 && !(set.weight >= kLeastWeight && set.weight <= kMostWeight))
        return source.error(value.place, fmt::format("{} is {}; weights are relative: 0, or from {} to {}", what,
                                                     set.weight, kLeastWeight, kMostWeight));
      has_weight = true;
    } else if (key == "targets") {
      KERF_TRY(set.targets, as_text_list(source, value, what));
      if (set.targets.empty())
        return source.error(value.place, fmt::format("{} is empty, so the set is never used", what));
    } else {
      KERF_TRY_VOID(check_task_name(source, place, "shape symbol", key));
      if (auto status = check_symbol("shape symbol", key); !status) return source.error(place, status.error().message);
      KERF_TRY(const std::int64_t extent, as_integer(source, value, what + did_you_mean(key, kOwnKeys)));
      if (extent < 0 || extent > kMaxExtent)
        return source.error(value.place,
                            fmt::format("{} is {}; extents lie between 0 and {}", what, extent, kMaxExtent));
      set.symbols[key] = extent;
    }
  }
  return set;
}

/// How often `word` stands in the text by itself.
std::size_t times_named(std::string_view text, std::string_view word) {
  const auto part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) ++times;
  }
  return times;
}

/// Error for a symbol that looks like a misspelt key: nothing in the file names it but the sets that bind it. What is
/// in other files (a C++ reference) is not known.
Status check_own_keys(const Source& source, const Table& table, const std::vector<ShapeSet>& sets,
                      const std::vector<std::string>& needed) {
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (const auto& [symbol, extent] : sets[i].symbols) {
      const std::string guess = contains(needed, symbol) ? "" : nearest(symbol, kOwnKeys);
      if (guess.empty() || times_named(source.text, "cpp") > 0) continue;
      const auto bound = std::ranges::count_if(sets, [&](const ShapeSet& set) { return set.symbols.contains(symbol); });
      if (times_named(source.text, symbol) <= static_cast<std::size_t>(bound))
        return source.error(
            table[i].place,
            fmt::format("shape set '{}' binds '{}', which nothing uses (is '{}' meant?)", sets[i].name, symbol, guess));
    }
  return {};
}

/// Error for the first set that does not bind one of `wanted`.
Status check_binds(const Source& source, const Table& table, const std::vector<ShapeSet>& sets,
                   const std::vector<std::string>& wanted, const std::vector<std::string>& needed) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const auto& symbol : wanted) {
      if (sets[i].symbols.contains(symbol)) continue;
      std::vector<std::string> strangers;  // bound here, but not used by any tensor: likely misspelt
      for (const auto& [name, value] : sets[i].symbols)
        if (!contains(needed, name)) strangers.push_back(name);
      const std::string guess = nearest(symbol, strangers);
      const std::string user = contains(needed, symbol) ? "a tensor" : "another set";
      return source.error(table[i].place, fmt::format("shape set '{}' does not bind '{}'{}", sets[i].name, symbol,
                                                      guess.empty() ? fmt::format(", which {} uses", user)
                                                                    : fmt::format(" (is '{}' meant?)", guess)));
    }
  }
  return {};
}

/// Every set binds the same symbols: those the tensors use and those that any other set binds (expressions may use
/// them).
Status check_bound(const Source& source, const Table& table, const std::vector<ShapeSet>& sets,
                   const std::vector<std::string>& needed) {
  KERF_TRY_VOID(check_own_keys(source, table, sets, needed));
  KERF_TRY_VOID(check_binds(source, table, sets, needed, needed));
  std::set<std::string> all;
  for (const auto& set : sets)
    for (const auto& [name, value] : set.symbols) all.insert(name);
  return check_binds(source, table, sets, {all.begin(), all.end()}, needed);
}

}  // namespace

Result<std::vector<ShapeSet>> read_shapes(const Source& source, const Value* value,
                                          const std::vector<std::string>& needed) {
  for (const auto* word : {"weight", "targets"})
    if (contains(needed, word))
      return source.error({},
                          fmt::format("'{}' cannot be a shape symbol: it has a meaning of its own in [shapes]", word));
  if (value == nullptr) {
    if (needed.empty()) return std::vector<ShapeSet>{{"default", {}, 1, {}}};
    return source.error(
        {}, fmt::format("the task has no [shapes] table, but its tensors use the symbols {}", join(needed, ", ")));
  }
  KERF_TRY(const Table* table, as_table(source, *value, "[shapes]"));
  if (table->empty())
    return source.error(value->place, "[shapes] is empty; write for example: default = { rows = 1024, cols = 1024 }");
  if (table->size() > kMaxShapeSets)
    return source.error(value->place, fmt::format("more than {} shape sets", kMaxShapeSets));
  std::vector<ShapeSet> sets;
  bool has_weight = false;
  for (const auto& entry : *table) {
    KERF_TRY(ShapeSet set, read_set(source, entry, has_weight));
    sets.push_back(std::move(set));
  }
  if (!has_weight) sets.front().weight = 1;
  if (std::none_of(sets.begin(), sets.end(), [](const ShapeSet& set) { return set.weight > 0; }))
    return source.error(value->place, "no shape set has a weight above 0, so nothing would be timed");
  KERF_TRY_VOID(check_bound(source, *table, sets, needed));
  return sets;
}

Status check_extents(const Source& source, const Task& task, const Value* shapes, Place reference) {
  const Table* table = shapes == nullptr ? nullptr : std::get_if<Table>(&shapes->data);
  for (std::size_t i = 0; i < task.shapes.size(); ++i) {
    const ShapeSet& set = task.shapes[i];
    const Place place = table != nullptr && i < table->size() ? (*table)[i].place : reference;
    double bytes = 0;
    for (const auto* tensors : {&task.inputs, &task.outputs}) {
      for (const auto& tensor : *tensors) {
        auto extents = evaluate(tensor.shape, set.symbols);
        if (!extents)
          return source.error(
              place, fmt::format("'{}' in shape set '{}': {}", tensor.name, set.name, extents.error().message));
        double size = static_cast<double>(dtype_size(tensor.dtype));
        for (const auto extent : *extents) {
          if (extent < 1 || extent > kMaxExtent)
            return source.error(
                place, fmt::format("'{}' has the shape {} in shape set '{}', where an extent is {}; extents lie "
                                   "between 1 and {}",
                                   tensor.name, to_string(tensor.shape), set.name, extent, kMaxExtent));
          size *= static_cast<double>(extent);
        }
        bytes += size;
      }
    }
    if (bytes > kMaxTaskBytes)
      return source.error(
          place, fmt::format("inputs and outputs of shape set '{}' take {:.0f} GiB; at most {:.0f} GiB are possible",
                             set.name, bytes / (1 << 30), kMaxTaskBytes / (1 << 30)));
    if (!task.graph) continue;
    for (const auto& node : task.graph->nodes) {
      auto extents = evaluate(node.shape, set.symbols);
      const bool possible =
          extents && std::all_of(extents->begin(), extents->end(), [](auto e) { return e >= 0 && e <= kMaxExtent; });
      if (!possible)
        return source.error(
            place, fmt::format("an intermediate value{} has the impossible shape {} in shape set '{}'{}",
                               node.origin.empty() ? "" : " of " + node.origin, to_string(node.shape), set.name,
                               extents ? "" : ": " + extents.error().message));
    }
  }
  return {};
}

}  // namespace kerf::task
