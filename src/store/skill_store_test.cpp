#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "memory/memory_store.hpp"
#include "skill/library.hpp"
#include "skill/skill_file.hpp"
#include "store/database.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

fs::path fresh_skill_file(const std::string& name) {
  const fs::path file = fs::path(testing::TempDir()) / ("kerf_skills_" + name) / "memory.db";
  fs::remove_all(file.parent_path());
  return file;
}

skill::Skill made_up_skill(const std::string& name) {
  skill::Skill one;
  one.name = name;
  one.description = "d";
  one.key_idea = "idea of " + name;
  one.id = skill_id(one);
  return one;
}

TEST(SkillStore, KeepsSkillsBetweenProcessesBesideExperiences) {
  const fs::path file = fresh_skill_file("keeps");
  const auto memory = open_memory_store(file);
  ASSERT_TRUE(memory) << memory.error().message;
  const skill::Skill a = made_up_skill("a"), b = made_up_skill("b");
  ASSERT_TRUE(open_skill_store(file).value()->change({a, b}, {}));
  auto store = open_skill_store(file);
  ASSERT_TRUE(store) << store.error().message;
  std::vector<std::string> skipped;
  EXPECT_EQ(store.value()->skills(skipped)->size(), 2u);
  ASSERT_TRUE(store.value()->change({}, {a.id}));
  const auto left = store.value()->skills(skipped);
  ASSERT_EQ(left->size(), 1u);
  EXPECT_EQ(left->front(), b);
  EXPECT_TRUE(memory.value()->experiences("", skipped)) << "both use the file at once";
}

TEST(SkillStore, UsesCountOnce) {
  auto store = open_skill_store(fresh_skill_file("uses")).value();
  EXPECT_EQ(store->note_uses({{"r", 1, "s", 0.5}, {"r", 2, "s", 0.5}})->size(), 2u);
  EXPECT_EQ(store->note_uses({{"r", 2, "s", 0.5}, {"r", 3, "s", 0.5}})->size(), 1u);
}

TEST(SkillStore, AMemoryOfAnOlderKerfIsBroughtUpToDate) {
  const fs::path file = fresh_skill_file("older");
  ASSERT_TRUE(open_memory_store(file));
  {
    auto database = store::Database::open(file, store::Database::Mode::write);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute(
        "DROP TABLE skills; DROP TABLE skill_uses; DROP TABLE sources; DROP TABLE embeddings; DROP TABLE prompts; "
        "DROP TABLE prompt_runs; PRAGMA user_version = 1"));
  }
  auto store = open_skill_store(file);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE(store.value()->change({made_up_skill("a")}, {}));
}

TEST(SkillStore, ARecordThatCannotBeReadIsNamedAndLeftOut) {
  const fs::path file = fresh_skill_file("damaged");
  ASSERT_TRUE(open_skill_store(file).value()->change({made_up_skill("a"), made_up_skill("b")}, {}));
  {
    auto database = store::Database::open(file, store::Database::Mode::write);
    ASSERT_TRUE(database->execute("UPDATE skills SET record = '{}' WHERE name = 'a'"));
  }
  std::vector<std::string> skipped;
  EXPECT_EQ(open_skill_store(file).value()->skills(skipped)->size(), 1u);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_NE(skipped[0].find("'name'"), std::string::npos) << skipped[0];
}

}  // namespace
}  // namespace kerf
