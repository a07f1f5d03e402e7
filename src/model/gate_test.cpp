#include "model/gate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "base/test_paths.hpp"

namespace kerf {
namespace {

TEST(Gates, NamesAreReadBack) {
  std::set<std::string_view> names;
  for (const GateEntry& entry : all_gates()) {
    EXPECT_EQ(gate_from_name(entry.name), entry.gate);
    EXPECT_EQ(gate_name(entry.gate), entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
  EXPECT_EQ(gate_from_name("no such gate"), std::nullopt);
}

/// Names in the second column of the table of gates: "| `rejected` | `parse` | ... |".
std::set<std::string> documented_gates() {
  std::set<std::string> names;
  std::ifstream file(source_folder() / "docs/verification.md");
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| outcome | gate |", 0) == 0) inside = true;
    if (!inside) continue;
    if (line.empty()) break;
    const auto second = line.find('|', 1);
    const auto open = line.find('`', second), close = line.find('`', open + 1);
    if (second != std::string::npos && close != std::string::npos && open < line.find('|', second + 1))
      names.insert(line.substr(open + 1, close - open - 1));
  }
  return names;
}

TEST(Gates, TheListInTheDocumentationIsTheListInTheCode) {
  std::set<std::string> names;
  for (const GateEntry& entry : all_gates()) names.emplace(entry.name);
  EXPECT_EQ(documented_gates(), names);
}

}  // namespace
}  // namespace kerf
