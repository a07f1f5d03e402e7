#include "export/domain.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "base/rng.hpp"
#include "base/test_paths.hpp"
#include "export/parts.hpp"
#include "task/task.hpp"

namespace kerf::exporting {
namespace {

namespace fs = std::filesystem;

Task task_of(const std::string& inputs, const std::string& shape, const std::string& expression) {
  const std::string text = "name = \"t\"\n[inputs]\n" + inputs + "\n[shapes]\ndefault = { " + shape +
                           " }\n[reference]\nexpr = \"" + expression + "\"\noutputs = [\"y\"]\n";
  return parse_task(text, "", "t.toml").value();
}

TEST(Domain, SymbolsThatWereEqualInEverySetMustBeEqual) {
  const Task task = task_of("a = \"f32[m]\"\nb = \"f32[n]\"", "m = 8, n = 8", "y = a + b");
  EXPECT_EQ(refusal_of(task, {{"m", 5}, {"n", 5}}), "");
  EXPECT_EQ(refusal_of(task, {{"m", 5}, {"n", 6}}), "m must equal n");
  EXPECT_NE(refusal_statements(task).find("if (!(m == n)) return \"m must equal n\";"), std::string::npos);
}

TEST(Domain, ExtentsAndSizesHaveLimits) {
  const Task task = task_of("a = \"f32[m]\"\nb = \"f32[n]\"", "m = 8, n = 4", "y = a * sum(b)");
  EXPECT_EQ(refusal_of(task, {{"m", 0}, {"n", 6}}), "m must be at least 1");
  EXPECT_EQ(refusal_of(task, {{"m", -1}, {"n", 6}}), "m must be at least 0");
  EXPECT_NE(refusal_of(task, {{"m", std::int64_t{1} << 41}, {"n", 6}}), "");
  EXPECT_EQ(refusal_of(task, {{"m", std::int64_t{1} << 40}, {"n", 6}}), "the buffers take more than 64 GiB");
}

TEST(Domain, WindowsMustFitAndGroupsMustDivide) {
  const Task pooled = task_of("x = \"f32[1, 2, h, w]\"", "h = 9, w = 9", "y = max_pool2d(x, 3)");
  EXPECT_EQ(refusal_of(pooled, {{"h", 3}, {"w", 4}}), "");
  EXPECT_NE(refusal_of(pooled, {{"h", 2}, {"w", 4}}), "");
  const Task grouped =
      task_of("x = \"f32[rows, c]\"", "rows = 4, c = 8, g = 2", "y = sum(reshape(x, [rows, g, c // g]), axis=1)");
  EXPECT_EQ(refusal_of(grouped, {{"rows", 3}, {"c", 9}, {"g", 3}}), "");
  EXPECT_NE(refusal_of(grouped, {{"rows", 3}, {"c", 9}, {"g", 2}}), "");
  EXPECT_EQ(refusal_of(grouped, {{"rows", 3}, {"c", 9}, {"g", 0}}), "g must be at least 1") << "before it divides";
}

TEST(Domain, SlicesStayInsideWhatTheyCutFrom) {
  const Task task = task_of("x = \"f32[rows, cols]\"", "rows = 4, cols = 64", "y = x[:, 32:64]");
  EXPECT_EQ(refusal_of(task, {{"rows", 1}, {"cols", 64}}), "");
  EXPECT_EQ(refusal_of(task, {{"rows", 1}, {"cols", 100}}), "");
  EXPECT_NE(refusal_of(task, {{"rows", 1}, {"cols", 63}}), "");
}

/// Whether the task file can be read with this as its only shape set.
bool check_accepts(const fs::path& file, const Bindings& symbols) {
  std::string set;
  for (const auto& [name, value] : symbols) set += (set.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  std::string text = read_file(file).value();
  const auto begin = text.find("[shapes]");
  auto end = text.find("\n[", begin);
  if (begin == std::string::npos || end == std::string::npos) return false;
  text.replace(begin, end - begin, "[shapes]\ndefault = { " + set + " }\n");
  return parse_task(text, file.parent_path(), file.filename().string()).has_value();
}

TEST(Domain, WhatItAcceptsTheTaskAcceptsAsAShapeSet) {
  Rng rng(5);
  int accepted = 0, refused = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() / "tasks")) {
    if (entry.path().extension() != ".toml") continue;
    const Task task = load_task(entry.path()).value();
    if (!task.graph) continue;
    for (const ShapeSet& set : task.shapes)
      EXPECT_EQ(refusal_of(task, set.symbols), "") << task.name << " " << set.name;
    for (int n = 0; n < 12; ++n) {
      Bindings symbols = task.shapes.front().symbols;
      for (auto& [name, value] : symbols) value = rng.integer(0, n < 6 ? 4 : 40);
      const std::string refusal = refusal_of(task, symbols);
      (refusal.empty() ? accepted : refused) += 1;
      if (!refusal.empty()) continue;
      EXPECT_TRUE(check_accepts(entry.path(), symbols)) << task.name << " " << to_string(task.inputs[0].shape);
    }
  }
  EXPECT_GT(accepted, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace kerf::exporting
