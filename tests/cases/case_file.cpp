#include "case_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace kerf::cases {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kOutcomes = {"measured", "build_failed", "wrong_result",
                                            "crashed",  "timed_out",    "rejected"};
const std::vector<std::string> kKeys = {"task", "target", "kernel", "expect", "gate", "why"};

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string text(const toml::table& table, const std::string& key, bool needed) {
  const auto value = table[key].value<std::string>();
  if (!value && (needed || table.contains(key))) throw std::runtime_error("'" + key + "' must be a text");
  return value.value_or("");
}

std::vector<std::string> outcomes(const toml::table& table) {
  std::vector<std::string> list;
  if (const auto one = table["expect"].value<std::string>()) list.push_back(*one);
  if (const auto* many = table["expect"].as_array())
    for (const auto& entry : *many) list.push_back(entry.value_or(std::string("(not a text)")));
  if (list.empty()) throw std::runtime_error("'expect' must name at least one outcome");
  for (const auto& outcome : list)
    if (!contains(kOutcomes, outcome)) throw std::runtime_error("unknown outcome '" + outcome + "'");
  return list;
}

fs::path existing(std::initializer_list<fs::path> places) {
  for (const auto& place : places)
    if (fs::is_regular_file(place)) return fs::canonical(place);
  throw std::runtime_error("there is no file " + places.begin()->string());
}

Case read_case(const fs::path& file, const fs::path& folder, const fs::path& root) {
  const toml::table table = toml::parse_file(file.string());
  for (const auto& [key, value] : table)
    if (!contains(kKeys, std::string(key.str())))
      throw std::runtime_error("unknown key '" + std::string(key.str()) + "'");
  Case result;
  result.name = file.stem().string();
  const std::string prefix = result.name.substr(0, result.name.find('_'));
  result.kind = prefix == "hostile" || prefix == "honest" ? prefix : "cases";
  result.target = text(table, "target", true);
  const std::string task = text(table, "task", true) + ".toml";
  result.task = existing({folder / "tasks" / task, root.parent_path() / "tasks" / task});
  result.kernel = existing({root / text(table, "kernel", true)});
  result.expect = outcomes(table);
  result.gate = text(table, "gate", false);
  result.why = text(table, "why", true);
  if (result.kind == "hostile" && contains(result.expect, "measured"))
    throw std::runtime_error("a hostile kernel is never to be measured");
  if (result.kind == "honest" && result.expect != std::vector<std::string>{"measured"})
    throw std::runtime_error("an honest kernel is always to be measured");
  return result;
}

}  // namespace

std::vector<Case> read_cases(const fs::path& folder, const fs::path& root) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const auto& file : files) {
    try {
      cases.push_back(read_case(file, folder, root));
    } catch (const std::exception& error) {
      throw std::runtime_error(file.string() + ": " + error.what());
    }
  }
  return cases;
}

std::vector<Group> grouped(const std::vector<Case>& cases) {
  std::map<std::string, Group> groups;
  for (const auto& one : cases) {
    const std::string name = one.kind + "_" + one.target + "_" + one.task.stem().string();
    groups[name].name = name;
    groups[name].cases.push_back(one);
  }
  std::vector<Group> list;
  for (auto& [name, entry] : groups) list.push_back(std::move(entry));
  return list;
}

}  // namespace kerf::cases
