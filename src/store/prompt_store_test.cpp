#include "memory/prompt_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace kerf {
namespace {

namespace fs = std::filesystem;

fs::path fresh_prompt_file(const std::string& name) {
  const fs::path file = fs::path(testing::TempDir()) / ("kerf_prompts_" + name) / "memory.db";
  fs::remove_all(file.parent_path());
  return file;
}

KeptPrompt made_up_prompt(const std::string& id, const std::string& target, PromptFigures figures) {
  return {id, target, "p0", "text of " + id, 7, 0, figures};
}

TEST(PromptStore, PoolsTheRunsOfATargetAndCountsAResumedRunOnce) {
  const fs::path file = fresh_prompt_file("pools");
  {
    auto store = open_prompt_store(file);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(store.value()->keep("run 1", {made_up_prompt("pa", "t1", {2, 0.1, 0.01, 0.2})}));
    ASSERT_TRUE(store.value()->keep("run 1", {made_up_prompt("pa", "t1", {4, 0.2, 0.02, 0.4})}));
    ASSERT_TRUE(store.value()->keep("run 2", {made_up_prompt("pa", "t1", {4, 0.4, 0.02, 0.3})}));
    ASSERT_TRUE(store.value()->keep("run 2", {made_up_prompt("pa", "t2", {9, -1, 0, 0})}));
  }
  auto store = open_prompt_store(file);
  ASSERT_TRUE(store) << store.error().message;
  const auto kept = store.value()->prompts("t1");
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(kept->size(), 1u);
  const KeptPrompt& one = kept->front();
  EXPECT_EQ(one.text, "text of pa");
  EXPECT_EQ(one.parent, "p0");
  EXPECT_EQ(one.runs, 2);
  EXPECT_EQ(one.figures.uses, 8);
  EXPECT_NEAR(one.figures.mean, 0.3, 1e-12);
  EXPECT_NEAR(one.figures.square, 0.04 + 0.2 * 0.2 * 2, 1e-12);
  EXPECT_NEAR(one.figures.best, 0.4, 1e-12);
  EXPECT_EQ(store.value()->prompts("")->size(), 2u);
}

TEST(PromptStore, WhatComesWithoutARunHasNoFigures) {
  auto store = open_prompt_store(fresh_prompt_file("imported"));
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(store.value()->keep("", {made_up_prompt("pa", "t", {40, 3, 0.1, 4})}));
  ASSERT_EQ(store.value()->prompts("t")->size(), 1u);
  EXPECT_EQ(store.value()->prompts("t")->front().figures, PromptFigures{});
  EXPECT_EQ(store.value()->prompts("t")->front().runs, 0);
}

TEST(PromptStore, RemovesWithTheFigures) {
  auto store = open_prompt_store(fresh_prompt_file("removes"));
  ASSERT_TRUE(store) << store.error().message;
  const KeptPrompt one = made_up_prompt("pa", "t", {4, 0.2, 0.02, 0.4});
  ASSERT_TRUE(store.value()->keep("run", {one, made_up_prompt("pb", "t", {1, 0, 0, 0})}));
  ASSERT_TRUE(store.value()->remove({one}));
  ASSERT_EQ(store.value()->prompts("t")->size(), 1u);
  ASSERT_TRUE(store.value()->keep("", {one}));
  const auto left = store.value()->prompts("t");
  ASSERT_EQ(left->size(), 2u);
  for (const KeptPrompt& kept : *left) EXPECT_EQ(kept.figures.uses, kept.id == "pb" ? 1 : 0);
}

}  // namespace
}  // namespace kerf
