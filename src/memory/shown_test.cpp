#include "memory/shown.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "memory/memory_fixture.hpp"

namespace kerf::memory {
namespace {

const Task kShownSoftmax = made_up_task("softmax", "softmax(x, axis=-1)");
const Task kShownLog = made_up_task("log_softmax", "log_softmax(x, axis=-1)");
const Task kShownGelu = made_up_task("gelu", "gelu(x)");
const TaskSignature kShownHere = signature_of(kShownSoftmax, "cpu", {"a processor", "x86-64", 2, 1e6});

Experience failure_of(const Task& task) {
  Experience one = made_up_kernel(task, "broken", 1, 1);
  one.kind = kFailureKind;
  one.speedup = one.share = 0;
  one.outcome = "build_failed";
  one.message = "no such thing";
  one.values = first_values(one);
  return one;
}

/// How often each place is shown in so many questions.
std::map<std::size_t, int> shown_in(const std::vector<Pooled>& pool, const ShownOptions& options, int questions) {
  std::map<std::size_t, int> counts;
  for (int i = 0; i < questions; ++i)
    for (const std::size_t at :
         choose_shown(pool, ValueStage::draft_shown, "reduce", options, Rng(static_cast<std::uint64_t>(i) + 1)))
      ++counts[at];
  return counts;
}

TEST(ShownPool, HasTheBestOfEveryCompositionAndTheFailures) {
  const auto pool =
      shown_pool(kShownHere,
                 {made_up_kernel(kShownSoftmax, "passes", 8, 0.5), made_up_kernel(kShownSoftmax, "passes", 64, 1),
                  made_up_kernel(kShownSoftmax, "parts", 64, 0.7), failure_of(kShownLog)},
                 {});
  ASSERT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool[0].experience.share, 1);
  EXPECT_EQ(pool[1].experience.recipe.genes[0].variant, "parts");
  EXPECT_EQ(pool[2].experience.kind, kFailureKind);
  EXPECT_GT(pool[0].similarity, pool[2].similarity);
}

TEST(ShownPool, LeavesRoomForOtherTasks) {
  std::vector<Experience> known{made_up_kernel(kShownLog, "passes", 8, 1)};
  for (int i = 0; i < 100; ++i) known.push_back(made_up_kernel(kShownSoftmax, "variant" + std::to_string(i), 8, 0.9));
  const auto pool = shown_pool(kShownHere, known, {});
  EXPECT_EQ(pool.size(), 9u);
  EXPECT_EQ(pool.back().experience.task, "log_softmax");
}

TEST(ShownChoice, BeginsWithWhatIsSimilarAndShowsOneFailure) {
  const auto pool = shown_pool(kShownHere,
                               {made_up_kernel(kShownSoftmax, "passes", 8, 1), made_up_kernel(kShownGelu, "simd", 8, 1),
                                failure_of(kShownSoftmax), failure_of(kShownGelu)},
                               {});
  ShownOptions options;
  options.kernels = 1;
  auto counts = shown_in(pool, options, 400);
  int kernels = 0, failures = 0;
  for (const auto& [at, count] : counts) (pool[at].experience.kind == kKernelKind ? kernels : failures) += count;
  EXPECT_EQ(kernels, failures);
  EXPECT_GT(counts[0], 200) << "the kernel of the same task is expected to help most";
  EXPECT_LT(kernels, 390) << "some questions are asked without, to compare with";
  EXPECT_GT(kernels, 330);
}

TEST(ShownChoice, WhatHelpedIsShownMoreOftenThanWhatIsSimilar) {
  std::vector<Experience> known{made_up_kernel(kShownSoftmax, "passes", 8, 1),
                                made_up_kernel(kShownGelu, "simd", 8, 1)};
  for (int i = 0; i < 30; ++i) {
    learn(known[0].values[ValueStage::draft_shown], "reduce", -0.3, Rule::kerf);
    learn(known[1].values[ValueStage::draft_shown], "reduce", 0.4, Rule::kerf);
  }
  ShownOptions options;
  options.kernels = 1;
  const auto pool = shown_pool(kShownHere, known, options);
  ASSERT_EQ(pool[1].experience.task, "gelu");
  auto counts = shown_in(pool, options, 300);
  EXPECT_GT(counts[1], 3 * counts[0]);
  options.rule = Rule::similar;
  counts = shown_in(pool, options, 300);
  EXPECT_EQ(counts[1], 0);
  options.rule = Rule::published;
  counts = shown_in(pool, options, 300);
  EXPECT_GT(counts[1], 240);
  EXPECT_GT(counts[0], 3) << "one in ten is random";
}

TEST(ShownChoice, TheOtherStageCountsHalf) {
  std::vector<Experience> known{made_up_kernel(kShownSoftmax, "passes", 8, 1),
                                made_up_kernel(kShownSoftmax, "parts", 8, 0.9)};
  for (int i = 0; i < 6; ++i) learn(known[1].values[ValueStage::refine_shown], "reduce", 1, Rule::kerf);
  ShownOptions options;
  options.kernels = 1;
  const auto ahead = [&] {  // of 300 drafts, how many more are shown what helped when refining
    const auto pool = shown_pool(kShownHere, known, options);
    auto counts = shown_in(pool, options, 300);
    const std::size_t helped = pool[0].experience.recipe.genes[0].variant == "parts" ? 0 : 1;
    return counts[helped] - counts[1 - helped];
  };
  const int half = ahead();
  EXPECT_GT(half, 30);
  options.other_stage = 0;
  EXPECT_LT(std::abs(ahead()), half);
  options.other_stage = 1;
  EXPECT_GT(ahead(), half);
}

TEST(ShownChoice, ValuesOfOtherUsesDoNotCount) {
  std::vector<Experience> known{made_up_kernel(kShownSoftmax, "passes", 8, 1),
                                made_up_kernel(kShownSoftmax, "parts", 8, 0.9)};
  for (int i = 0; i < 30; ++i) learn(known[0].values[ValueStage::refine], "reduce", -1, Rule::kerf);
  ShownOptions options;
  options.kernels = 1;
  const auto pool = shown_pool(kShownHere, known, options);
  auto counts = shown_in(pool, options, 300);
  EXPECT_NEAR(counts[0], counts[1], 60);
}

}  // namespace
}  // namespace kerf::memory
