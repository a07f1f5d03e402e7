#include "memory/retrieve.hpp"

#include <gtest/gtest.h>

#include "memory/memory_fixture.hpp"
#include "memory/operators.hpp"

namespace kerf::memory {
namespace {

const Task kSoftmax = made_up_task("softmax", "softmax(x, axis=-1)");
const Task kLogSoftmax = made_up_task("log_softmax", "log_softmax(x, axis=-1)", 1024, 2048);
const Task kProduct = made_up_task("product", "matmul(x, x)");
const Task kGelu = made_up_task("gelu", "gelu(x)");

TaskSignature here(const Task& task, const std::string& device = "a processor") {
  return signature_of(task, "cpu", {device, "x86-64", 2, 1e6});
}

TEST(MemorySimilarity, TasksOfTheSameOperatorsAreAlike) {
  EXPECT_NEAR(similarity(here(kSoftmax), here(kSoftmax)), 1, 1e-9);
  const double like = similarity(here(kSoftmax), here(kLogSoftmax));
  EXPECT_GT(like, 0.4);
  EXPECT_GT(like, 2 * similarity(here(kSoftmax), here(kProduct)));
  EXPECT_GT(like, similarity(here(kSoftmax), here(kGelu)));
}

TEST(MemorySimilarity, ElementwiseTasksAreAlikeWhateverTheirFunction) {
  const Task a = made_up_task("a", "exp(x) * 0.5"), b = made_up_task("b", "tanh(x) + 1.0");
  EXPECT_GT(similarity(here(a), here(b)), 0.4);
  EXPECT_LT(similarity(here(a), here(kProduct)), 0.25);
}

TEST(MemorySimilarity, ExtentsAndDevicesCountLess) {
  const Task small = made_up_task("softmax", "softmax(x, axis=-1)", 64, 64);
  EXPECT_LT(similarity(here(kSoftmax), here(small)), 0.95);
  EXPECT_GT(similarity(here(kSoftmax), here(small)), 0.7);
  EXPECT_LT(similarity(here(kSoftmax), here(kSoftmax, "another")), 0.95);
  EXPECT_GT(similarity(here(kSoftmax), here(kSoftmax, "another")), 0.6);
}

TEST(MemorySimilarity, FamiliesAreTheCostliestOperator) {
  EXPECT_EQ(operator_family(*kSoftmax.graph), "reduce");
  EXPECT_EQ(operator_family(*kProduct.graph), "contract");
  EXPECT_EQ(operator_family(*kGelu.graph), "map");
}

TEST(MemorySimilarity, StructureIgnoresExtents) {
  const Task other = made_up_task("softmax", "softmax(x, axis=-1)", 7, 9);
  EXPECT_EQ(structure_key(*kSoftmax.graph), structure_key(*other.graph));
  EXPECT_NE(structure_key(*kSoftmax.graph), structure_key(*kLogSoftmax.graph));
}

TEST(Retrieve, TakesKernelsOfSimilarTasksAndDifferentOnes) {
  const std::vector<Experience> known{
      made_up_kernel(kSoftmax, "passes", 64, 1), made_up_kernel(kSoftmax, "passes", 32, 0.97),
      made_up_kernel(kSoftmax, "online", 64, 0.9), made_up_kernel(kProduct, "tiled", 64, 1)};
  RetrieveOptions options;
  options.count = 2;
  const auto found = retrieve(here(kLogSoftmax), known, {}, options, {}, Rng(1));
  ASSERT_EQ(found.items.size(), 2u);
  EXPECT_EQ(found.items[0].id, known[0].id);
  EXPECT_EQ(found.items[1].id, known[2].id) << "another variant rather than nearly the same again";
  EXPECT_GT(found.advice.at("row/passes"), found.advice.at("row/online"));
  EXPECT_FALSE(found.advice.contains("row/tiled"));
}

TEST(Retrieve, WhatFailedBeforeIsTakenLater) {
  std::vector<Experience> known{made_up_kernel(kSoftmax, "passes", 64, 1), made_up_kernel(kSoftmax, "online", 64, 1)};
  Moments moments;
  for (int i = 0; i < 12; ++i) {
    learn(known[0].values[ValueStage::refine], "reduce", -0.9, Rule::kerf);
    learn(known[1].values[ValueStage::refine], "reduce", 0.3, Rule::kerf);
    moments.add(-0.9);
    moments.add(0.3);
  }
  RetrieveOptions options;
  options.count = 1;
  EXPECT_EQ(retrieve(here(kLogSoftmax), known, moments, options, {}, Rng(1)).items[0].id, known[1].id);
  options.rule = Rule::published;
  options.epsilon = 0;
  EXPECT_EQ(retrieve(here(kLogSoftmax), known, moments, options, {}, Rng(1)).items[0].id, known[1].id);
}

TEST(Retrieve, WhatWasNeverTriedIsPreferredAmongEquals) {
  std::vector<Experience> known{made_up_kernel(kSoftmax, "passes", 64, 1), made_up_kernel(kSoftmax, "online", 64, 1)};
  Moments moments;
  for (int i = 0; i < 12; ++i) {
    learn(known[0].values[ValueStage::refine], "reduce", 0, Rule::kerf);
    moments.add(i % 2 == 0 ? 0.5 : -0.5);
  }
  RetrieveOptions options;
  options.count = 1;
  EXPECT_EQ(retrieve(here(kLogSoftmax), known, moments, options, {}, Rng(1)).items[0].id, known[1].id);
}

TEST(Retrieve, KernelsWithoutARecipeAreFoundButNotCarriedOver) {
  Experience written = made_up_kernel(kSoftmax, "passes", 64, 1);
  written.recipe = {};
  set_source(written, "a text");
  written.id = experience_id(written);
  const std::vector<Experience> known{written};
  ASSERT_EQ(most_similar(here(kSoftmax), known, 10, 0).size(), 1u);
  EXPECT_EQ(most_similar(here(kSoftmax), known, 10, 0)[0].second->id, written.id);
  EXPECT_TRUE(retrieve(here(kSoftmax), known, {}, {}, {}, Rng(1)).items.empty());
}

TEST(Retrieve, PassesOverWhatTheCallerHas) {
  const std::vector<Experience> known{made_up_kernel(kSoftmax, "passes", 64, 1)};
  EXPECT_TRUE(retrieve(here(kSoftmax), known, {}, {}, {known[0].id}, Rng(1)).items.empty());
}

TEST(Retrieve, RecollectionsAreReadBack) {
  const std::vector<Experience> known{made_up_kernel(kSoftmax, "passes", 64, 1),
                                      made_up_kernel(kSoftmax, "online", 8, 0.5)};
  const auto found = retrieve(here(kLogSoftmax), known, {}, {}, {}, Rng(1));
  const auto read = recollection_from_json(to_json(found));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->items.size(), found.items.size());
  EXPECT_EQ(read->items[0].recipe, found.items[0].recipe);
  EXPECT_EQ(read->advice, found.advice);
  EXPECT_FALSE(recollection_from_json("[]"));
  EXPECT_FALSE(recollection_from_json(R"({"schema": 1, "rule": "kerf", "items": [{}], "advice": {}})"));
}

}  // namespace
}  // namespace kerf::memory
