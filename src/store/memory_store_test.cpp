#include "memory/memory_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "store/database.hpp"
#include "store/run_store.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using memory::Experience;

fs::path fresh_memory(const std::string& name) {
  const fs::path file = fs::path(testing::TempDir()) / ("kerf_memory_" + name) / "memory.db";
  fs::remove_all(file.parent_path());
  return file;
}

Experience kernel_of(const std::string& task, int lanes, double share, const std::string& run = "run1") {
  Experience one;
  one.kind = memory::kKernelKind;
  one.task = task;
  one.task_id = "id of " + task;
  one.signature.target = "cpu";
  one.signature.device.name = "a processor";
  one.recipe.genes.push_back({{"reduce.sum"}, "row", "passes", {{"LANES", lanes}}});
  one.outcome = "measured";
  one.speedup = 10 * share;
  one.share = share;
  one.run = run;
  one.values = first_values(one);
  one.id = experience_id(one);
  return one;
}

std::vector<Experience> all_of(const MemoryStore& store, const std::string& target = "") {
  std::vector<std::string> skipped;
  auto list = store.experiences(target, skipped);
  EXPECT_TRUE(list) << list.error().message;
  EXPECT_TRUE(skipped.empty());
  return list ? *list : std::vector<Experience>{};
}

TEST(MemoryStore, KeepsExperiencesBetweenProcesses) {
  const fs::path file = fresh_memory("keeps");
  const Experience one = kernel_of("softmax", 64, 1);
  ASSERT_TRUE(open_memory_store(file).value()->add({one, kernel_of("rowsum", 8, 0.5)}));
  const auto store = open_memory_store(file);
  ASSERT_TRUE(store) << store.error().message;
  const auto list = all_of(**store, "cpu");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0] == one || list[1] == one);
  EXPECT_TRUE(all_of(**store, "cuda").empty());
}

TEST(MemoryStore, AConfirmedFigureIsNotReplacedByOneThatIsNot) {
  const auto store = open_memory_store(fresh_memory("confirmed")).value();
  Experience confirmed = kernel_of("softmax", 64, 0.4), lucky = kernel_of("softmax", 64, 0.9, "run2");
  ASSERT_TRUE(store->add({lucky}));
  confirmed.confirmed = true;
  ASSERT_TRUE(store->add({confirmed}));
  EXPECT_DOUBLE_EQ(all_of(*store)[0].speedup, 4);
  lucky.run = "run3";
  ASSERT_TRUE(store->add({lucky}));
  EXPECT_DOUBLE_EQ(all_of(*store)[0].speedup, 4);
  EXPECT_TRUE(all_of(*store)[0].confirmed);
}

TEST(MemoryStore, AFileNeedsNoFolderInItsName) {
  const fs::path here = fs::current_path();
  fs::current_path(testing::TempDir());
  fs::remove("kerf_memory_here.db");
  const auto store = open_memory_store("kerf_memory_here.db");
  EXPECT_TRUE(store) << store.error().message;
  EXPECT_TRUE(fs::exists("kerf_memory_here.db"));
  fs::current_path(here);
}

TEST(MemoryStore, CountsWhatIsSeenAgainAndKeepsItsValues) {
  const auto store = open_memory_store(fresh_memory("again")).value();
  const Experience one = kernel_of("softmax", 64, 1);
  ASSERT_TRUE(store->add({one}));
  ASSERT_TRUE(store->learn({{"run9", 3, one.id, memory::ValueStage::refine, "reduce", 0.5}}, memory::Rule::kerf));
  const double value = value_of(all_of(*store)[0], memory::ValueStage::refine, "reduce");
  EXPECT_GT(value, 0);
  ASSERT_TRUE(store->add({kernel_of("softmax", 64, 0.9, "run1")}));  // the same run, resumed
  EXPECT_EQ(all_of(*store)[0].seen, 1);
  ASSERT_TRUE(store->add({kernel_of("softmax", 64, 0.8, "run2")}));
  const auto list = all_of(*store);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].seen, 2);
  EXPECT_DOUBLE_EQ(list[0].share, 0.8);
  EXPECT_DOUBLE_EQ(value_of(list[0], memory::ValueStage::refine, "reduce"), value);
}

TEST(MemoryStore, LearnsAUseOnce) {
  const auto store = open_memory_store(fresh_memory("once")).value();
  const Experience one = kernel_of("softmax", 64, 1);
  ASSERT_TRUE(store->add({one}));
  const std::vector<MemoryUse> uses{{"run2", 1, one.id, memory::ValueStage::draft, "reduce", 1},
                                    {"run2", 2, one.id, memory::ValueStage::refine, "reduce", -0.4},
                                    {"run2", 3, "not here", memory::ValueStage::refine, "reduce", 1}};
  ASSERT_TRUE(store->learn(uses, memory::Rule::kerf));
  ASSERT_TRUE(store->learn(uses, memory::Rule::kerf));
  EXPECT_EQ(value_count(all_of(*store)[0], memory::ValueStage::refine), 1);
  EXPECT_EQ(store->moments().value().count, 1);
  ASSERT_EQ(store->uses(one.id).value().size(), 2u);
  EXPECT_DOUBLE_EQ(store->uses(one.id).value()[1].reward, -0.4);
}

TEST(MemoryStore, LeavesFrozenValuesAlone) {
  const auto store = open_memory_store(fresh_memory("frozen")).value();
  Experience one = kernel_of("softmax", 64, 1);
  one.frozen = true;
  ASSERT_TRUE(store->add({one}));
  ASSERT_TRUE(store->learn({{"run2", 2, one.id, memory::ValueStage::refine, "reduce", -1}}, memory::Rule::kerf));
  EXPECT_EQ(all_of(*store)[0].values, one.values);
}

TEST(MemoryStore, KeepsTheBestOfATask) {
  const auto store = open_memory_store(fresh_memory("trim")).value();
  std::vector<Experience> many;
  for (int i = 1; i <= 100; ++i) many.push_back(kernel_of("softmax", i, i / 100.0));
  many.push_back(kernel_of("rowsum", 1, 0.01));
  ASSERT_TRUE(store->add(many));
  const auto list = all_of(*store);
  EXPECT_EQ(list.size(), 49u);
  for (const Experience& one : list) EXPECT_TRUE(one.task == "rowsum" || one.share > 0.5) << one.share;
}

TEST(MemoryStore, NamesRecordsThatCannotBeReadAndGoesOn) {
  const fs::path file = fresh_memory("damaged");
  ASSERT_TRUE(open_memory_store(file).value()->add({kernel_of("softmax", 64, 1), kernel_of("rowsum", 8, 0.5)}));
  ASSERT_TRUE(store::Database::open(file, store::Database::Mode::write)
                  .value()
                  .execute("UPDATE experiences SET record = '{\"id\": 3' WHERE task = 'rowsum'"));
  const auto store = open_memory_store(file).value();
  std::vector<std::string> skipped;
  EXPECT_EQ(store->experiences("cpu", skipped).value().size(), 1u);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_NE(skipped[0].find("experience "), std::string::npos) << skipped[0];
}

TEST(MemoryStore, KeepsSourcesApartAndAsLongAsTheirExperiences) {
  const fs::path file = fresh_memory("sources");
  const auto store = open_memory_store(file).value();
  Experience one = kernel_of("softmax", 64, 1);
  set_source(one, "int kernel;");
  ASSERT_TRUE(store->add({one}));
  EXPECT_EQ(store->source(one.id).value(), "int kernel;");
  EXPECT_EQ(all_of(*store)[0].source, "");
  one.source.clear();  // seen again without its text
  ASSERT_TRUE(store->add({one}));
  EXPECT_EQ(store->source(one.id).value(), "int kernel;");
  EXPECT_EQ(store->source("unknown").value(), "");
  std::vector<Experience> better;
  for (int i = 0; i < 60; ++i) better.push_back(kernel_of("softmax", 100 + i, 1));
  one.share = 0.1;
  better.push_back(one);
  ASSERT_TRUE(store->add(better));
  EXPECT_EQ(all_of(*store).size(), 48u);
  EXPECT_EQ(store->source(one.id).value(), "");
}

TEST(MemoryStore, ReadsWhatAnOlderKerfWrote) {
  const fs::path file = fresh_memory("older");
  const Experience one = kernel_of("softmax", 64, 1);
  ASSERT_TRUE(open_memory_store(file).value()->add({one}));
  // As schema 2 had it: no sources, no hash in the records.
  auto old = store::Database::open(file, store::Database::Mode::write).value();
  ASSERT_TRUE(
      old.execute("DROP TABLE sources; DROP TABLE embeddings; DROP TABLE prompts; DROP TABLE prompt_runs; PRAGMA "
                  "user_version = 2; UPDATE "
                  "experiences SET record = "
                  "json_remove(record, '$.source_hash')"));
  const auto store = open_memory_store(file);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_EQ(all_of(**store).size(), 1u);
  EXPECT_EQ(all_of(**store)[0].id, one.id);
  EXPECT_EQ((*store)->source(one.id).value(), "");
}

TEST(MemoryStore, RefusesFilesThatAreNoMemory) {
  const fs::path text = fresh_memory("text");
  ASSERT_TRUE(write_file_atomic(text, "this is a letter, and long enough to be looked at as one of another kind"));
  const auto opened = open_memory_store(text);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("--memory off"), std::string::npos) << opened.error().message;

  const fs::path run = fs::path(testing::TempDir()) / "kerf_memory_run";
  fs::remove_all(run);
  ASSERT_TRUE(create_run_store(run));
  const auto other = open_memory_store(run / "kerf.db");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("not a memory"), std::string::npos) << other.error().message;
  EXPECT_TRUE(open_run_store(run, RunStore::Access::write));

  const fs::path newer = fresh_memory("newer");
  ASSERT_TRUE(open_memory_store(newer));
  ASSERT_TRUE(store::Database::open(newer, store::Database::Mode::write).value().execute("PRAGMA user_version = 77"));
  const auto later = open_memory_store(newer);
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().message.find("newer kerf"), std::string::npos) << later.error().message;
}

}  // namespace
}  // namespace kerf
