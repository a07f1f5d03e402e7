#include "propose/synth/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/toml_library.hpp"
#include "codegen/dialects/dialects.hpp"
#include "propose/synth/built_in_files.hpp"
#include "propose/synth/capabilities.hpp"
#include "propose/synth/ranking.hpp"

namespace kerf::synth {
namespace {

auto bad(const std::string& where, const std::string& what) {
  return fail(Errc::invalid_input, fmt::format("{}: {}", where, what));
}

const std::vector<std::string> kKeys = {"name",   "file",    "languages", "needs",   "precisions", "when",
                                        "unit",   "work",    "padded",    "moves",   "rereads",    "tune",
                                        "define", "require", "prefer",    "scratch", "launch"};

Result<std::vector<std::string>> strings(const toml::table& table, const std::string& key, const std::string& where) {
  std::vector<std::string> list;
  const toml::node* node = table.get(key);
  if (node == nullptr) return list;
  if (!node->is_array()) return bad(where, fmt::format("'{}' must be a list of strings", key));
  for (const auto& item : *node->as_array()) {
    const auto text = item.value<std::string>();
    if (!text) return bad(where, fmt::format("'{}' must be a list of strings", key));
    list.push_back(*text);
  }
  return list;
}

Result<std::vector<Tunable>> tunables(const toml::table& table, const std::string& where) {
  std::vector<Tunable> list;
  const toml::node* node = table.get("tune");
  if (node == nullptr) return list;
  if (!node->is_table()) return bad(where, "'tune' must be a table of lists");
  for (const auto& [key, values] : *node->as_table()) {
    Tunable tunable{std::string(key.str()), {}};
    if (values.is_array())
      for (const auto& item : *values.as_array())
        if (const auto number = item.value<std::int64_t>()) tunable.values.push_back(*number);
    if (tunable.values.empty()) return bad(where, fmt::format("tunable {} needs a list of integers", tunable.name));
    list.push_back(std::move(tunable));
  }
  return list;
}

Result<Bindings> constants(const toml::table& table, const std::string& where) {
  Bindings numbers;
  const toml::node* node = table.get("define");
  if (node == nullptr) return numbers;
  if (!node->is_table()) return bad(where, "'define' must be a table of integers");
  for (const auto& [key, value] : *node->as_table()) {
    const auto number = value.value<std::int64_t>();
    if (!number) return bad(where, fmt::format("the constant {} must be an integer", key.str()));
    numbers[std::string(key.str())] = *number;
  }
  return numbers;
}

/// Every word must be one of `words`; with `negated`, after an optional '!'.
Status check_words(const std::vector<std::string>& list, const std::vector<std::string>& words, bool negated,
                   const std::string& what, const std::string& where) {
  for (const std::string& item : list) {
    const std::string word = negated && item.starts_with('!') ? item.substr(1) : item;
    if (std::find(words.begin(), words.end(), word) == words.end())
      return bad(where, fmt::format("unknown {} '{}'{}; choose one of: {}", what, word, did_you_mean(word, words),
                                    join(words, ", ")));
  }
  return {};
}

Result<Variant> read_variant(const toml::table& table, const std::string& family, const std::string& where) {
  for (const auto& [key, value] : table)
    if (std::find(kKeys.begin(), kKeys.end(), std::string(key.str())) == kKeys.end())
      return bad(where, fmt::format("unknown key '{}'{}", key.str(), did_you_mean(key.str(), kKeys)));
  Variant variant;
  variant.family = family;
  variant.name = table["name"].value_or(std::string());
  const std::string file = table["file"].value_or(std::string());
  if (variant.name.empty() || file.empty()) return bad(where, "a variant needs a name and a file");
  const std::string place = where + " (" + variant.name + ")";
  variant.file = family + "/" + file;
  KERF_TRY(const std::string_view text, built_in_file(variant.file));
  variant.text = text;
  KERF_TRY(variant.languages, strings(table, "languages", place));
  KERF_TRY_VOID(check_words(variant.languages, codegen::dialects::language_names(), false, "language", place));
  KERF_TRY(variant.needs, strings(table, "needs", place));
  KERF_TRY_VOID(check_words(variant.needs, known_capabilities(), true, "capability", place));
  KERF_TRY(variant.when, strings(table, "when", place));
  variant.unit = table["unit"].value_or(std::string());
  variant.work = table["work"].value_or(1.0);
  if (!variant.unit.empty() && !typical_rates().contains(variant.unit)) {
    std::vector<std::string> units;
    for (const auto& [name, rate] : typical_rates()) units.push_back(name);
    return bad(place, fmt::format("unknown unit '{}'{}; choose one of: {}", variant.unit,
                                  did_you_mean(variant.unit, units), join(units, ", ")));
  }
  if (!(variant.work > 0)) return bad(place, "'work' must be a number above 0");
  KERF_TRY(variant.padded, strings(table, "padded", place));
  if (!variant.padded.empty() && variant.padded.size() != 2)
    return bad(place, "'padded' must be two expressions: terms computed with the padding, and without");
  variant.moves = table["moves"].value_or(1.0);
  if (!(variant.moves > 0)) return bad(place, "'moves' must be a number above 0");
  variant.rereads = table["rereads"].value_or(false);
  KERF_TRY(variant.requirements, strings(table, "require", place));
  KERF_TRY(variant.preferences, strings(table, "prefer", place));
  KERF_TRY(variant.scratch, strings(table, "scratch", place));
  KERF_TRY(variant.launches, strings(table, "launch", place));
  KERF_TRY(variant.tunables, tunables(table, place));
  KERF_TRY(variant.constants, constants(table, place));
  KERF_TRY(const auto precisions, strings(table, "precisions", place));
  for (const auto& name : precisions) {
    const auto precision = precision_from_name(name);
    if (!precision) return bad(place, fmt::format("unknown precision '{}'", name));
    variant.precisions.push_back(*precision);
  }
  if (variant.languages.empty() || variant.launches.empty())
    return bad(place, "a variant needs languages and launches");
  return variant;
}

}  // namespace

Result<std::string_view> built_in_file(std::string_view path) {
  std::vector<std::string> names;
  for (const BuiltInFile& file : built_in_files()) {
    if (file.path == path) return file.text;
    names.emplace_back(file.path);
  }
  return fail(Errc::not_found, fmt::format("no built-in kernel file '{}'{}", path, did_you_mean(path, names)));
}

Result<std::vector<Variant>> read_manifest(const std::string& family, std::string_view text) {
  std::vector<Variant> variants;
  std::set<std::string> seen;
  const std::string where = "kernels/" + family + "/manifest.toml";
  const toml::parse_result parsed = toml::parse(text, where);
  if (!parsed)
    return bad(where, fmt::format("line {}: {}", parsed.error().source().begin.line, parsed.error().description()));
  const toml::array* list = parsed.table()["variant"].as_array();
  if (list == nullptr) return bad(where, "has no [[variant]]");
  for (const auto& item : *list) {
    if (!item.is_table()) return bad(where, "a variant must be a table");
    KERF_TRY(Variant variant, read_variant(*item.as_table(), family, where));
    if (!seen.insert(variant.name).second) return bad(where, fmt::format("two variants are called '{}'", variant.name));
    variants.push_back(std::move(variant));
  }
  return variants;
}

Result<std::vector<Variant>> load_catalogue() {
  std::vector<Variant> variants;
  for (const BuiltInFile& file : built_in_files()) {
    constexpr std::string_view kManifest = "/manifest.toml";
    if (!file.path.ends_with(kManifest)) continue;
    KERF_TRY(auto read,
             read_manifest(std::string(file.path.substr(0, file.path.size() - kManifest.size())), file.text));
    std::move(read.begin(), read.end(), std::back_inserter(variants));
  }
  return variants;
}

}  // namespace kerf::synth
