#include "memory/lessons.hpp"

#include <gtest/gtest.h>

#include "memory/fake_memory_store.hpp"
#include "memory/memory_fixture.hpp"

namespace kerf::memory {
namespace {

const Task kTask = made_up_task("rows", "softmax(x, axis=-1)");

Step measured_step(std::int64_t number, double speedup, const std::string& variant, std::int64_t lanes) {
  Step step;
  step.number = number;
  step.proposer = "builtin";
  step.operation = "parameter";
  step.genome = variant;
  step.tunables = {{"LANES", lanes}};
  Measurement measurement;
  measurement.speedup = {"naive", speedup, speedup, speedup};
  measurement.shapes.push_back({"default", 1, {100 / speedup, 0, 0, 9}, {}, {}, std::nullopt});
  step.evaluation.outcome = measurement;
  return step;
}

Step refused_step(std::int64_t number, const std::string& variant) {
  Step step = measured_step(number, 1, variant, 1);
  step.evaluation.outcome = BuildFailed{"default", "no such thing"};
  return step;
}

std::optional<Recipe> recipe_from_step(const Step& step) {
  return Recipe{"graph", step.genome, {{{"reduce.sum"}, "row", step.genome, step.tunables}}};
}

RunOrigin origin() {
  return {"run1", kTask.name, kTask.id, signature_of(kTask, "cpu", {"a processor", "x86-64", 2, 1e6}), "0", 7};
}

TEST(Lessons, KernelsAreComparedWithTheBestOfTheirRun) {
  const auto lessons = lessons_of({measured_step(1, 2, "a", 8), refused_step(2, "b"), measured_step(3, 8, "c", 8)},
                                  origin(), recipe_from_step, Rule::kerf);
  ASSERT_EQ(lessons.experiences.size(), 3u);
  EXPECT_DOUBLE_EQ(lessons.experiences[0].share, 1);
  EXPECT_DOUBLE_EQ(lessons.experiences[1].share, 0.25);
  EXPECT_EQ(lessons.experiences[2].kind, kFailureKind);
  EXPECT_EQ(lessons.experiences[2].message, "no such thing");
  EXPECT_GT(value_of(lessons.experiences[0], ValueStage::refine, "reduce"),
            value_of(lessons.experiences[1], ValueStage::refine, "reduce"));
}

Step again(const Step& step, std::int64_t number, double speedup) {
  Step confirmation = measured_step(number, speedup, step.genome, 1);
  confirmation.tunables = step.tunables;
  confirmation.source = step.source;
  confirmation.stage = Stage::final;
  confirmation.operation = "confirm";
  confirmation.parents = {step.number};
  return confirmation;
}

TEST(Lessons, KernelsAreWorthWhatTheRunPresents) {
  // Timed by itself it seemed fast; the plain kernel, timed in turn with it, was three times as fast.
  const Step lucky = measured_step(1, 1.5, "a", 8);
  const Presented plain_won{[](const Step&) { return 0.33; }, 1};
  const auto lessons = lessons_of({lucky}, origin(), recipe_from_step, Rule::kerf, plain_won);
  ASSERT_EQ(lessons.experiences.size(), 1u);
  EXPECT_DOUBLE_EQ(lessons.experiences[0].speedup, 0.33);
  EXPECT_DOUBLE_EQ(lessons.experiences[0].share, 0.33);
}

TEST(Lessons, AConfirmedFigureTakesThePlaceOfTheLuckyOne) {
  Step written = measured_step(1, 8.68, "", 1);
  written.source = "a text";
  written.proposer = "llm";
  written.provenance.prompt = "p1/draft";
  const Step made = measured_step(2, 5, "a", 8), other = measured_step(3, 4.5, "b", 8);
  const auto lessons = lessons_of({written, made, other, again(written, 4, 3.85), again(made, 5, 3)}, origin(),
                                  recipe_from_step, Rule::kerf);
  ASSERT_EQ(lessons.experiences.size(), 3u);
  EXPECT_DOUBLE_EQ(lessons.experiences[0].speedup, 3.85) << "of the kernel that a model wrote, too";
  EXPECT_TRUE(lessons.experiences[0].confirmed);
  EXPECT_EQ(lessons.experiences[0].mind, "llm");
  EXPECT_DOUBLE_EQ(lessons.experiences[0].share, 1) << "against what the run says of its best";
  for (const Experience& one : lessons.experiences) EXPECT_EQ(one.confirmed, one.speedup < 4) << one.speedup;
}

TEST(Lessons, AFinalistThatDidNotStandIsAFailure) {
  const Step made = measured_step(1, 5, "a", 8);
  Step refused = again(made, 2, 1);
  refused.evaluation.outcome = Crashed{};
  const auto lessons = lessons_of({made, refused}, origin(), recipe_from_step, Rule::kerf);
  ASSERT_EQ(lessons.experiences.size(), 1u);
  EXPECT_EQ(lessons.experiences[0].kind, kFailureKind);
}

TEST(Lessons, TheBestOfEveryCompositionIsKept) {
  std::vector<Step> steps;
  for (int i = 0; i < 60; ++i) steps.push_back(measured_step(i + 1, 10 + i, "fast", i));
  steps.push_back(measured_step(61, 1, "slow", 1));
  const auto lessons = lessons_of(steps, origin(), recipe_from_step, Rule::kerf);
  EXPECT_EQ(lessons.experiences.size(), 24u);
  EXPECT_EQ(lessons.experiences[0].recipe.genes[0].parameters.at("LANES"), 59);
  EXPECT_EQ(lessons.experiences[1].recipe.genes[0].variant, "slow");
}

TEST(Lessons, QuickTimingsAndDuplicatesTeachNothing) {
  Step trial = measured_step(1, 9, "a", 1), twin = measured_step(2, 9, "b", 1);
  trial.stage = Stage::tune;
  trial.operation = kTrialOperation;
  twin.evaluation.outcome = Rejected{Gate::duplicate, "the source is that of step 1"};
  const auto lessons = lessons_of({trial, twin}, origin(), recipe_from_step, Rule::kerf);
  EXPECT_TRUE(lessons.experiences.empty());
}

TEST(Lessons, ExperiencesThatWereUsedAreRewardedInTheirStage) {
  std::vector<Step> steps{measured_step(1, 2, "a", 1), measured_step(2, 4, "b", 1), refused_step(3, "c"),
                          measured_step(4, 4, "d", 1)};
  for (std::size_t i = 0; i < 3; ++i) steps[i].provenance.context = {"experience:e" + std::to_string(i + 1), "skill:x"};
  const auto uses = lessons_of(steps, origin(), recipe_from_step, Rule::kerf).uses;
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[0].stage, ValueStage::draft);
  EXPECT_EQ(uses[0].reward, 1);
  EXPECT_EQ(uses[1].stage, ValueStage::refine);
  EXPECT_NEAR(uses[1].reward, 0.6, 1e-9);
  EXPECT_EQ(uses[2].reward, -1);
  EXPECT_EQ(uses[2].experience, "e3");
}

TEST(Lessons, AMemoryLearnsFromThem) {
  FakeMemoryStore store;
  const Experience one = made_up_kernel(kTask, "passes", 64, 1);
  ASSERT_TRUE(store.add({one}));
  std::vector<Step> steps{measured_step(1, 2, "a", 1), measured_step(2, 4, "b", 1)};
  steps[1].provenance.context = {"experience:" + one.id};
  const auto uses = lessons_of(steps, origin(), recipe_from_step, Rule::kerf).uses;
  ASSERT_TRUE(store.learn(uses, Rule::kerf));
  ASSERT_TRUE(store.learn(uses, Rule::kerf));
  std::vector<std::string> skipped;
  const auto list = store.experiences("cpu", skipped).value();
  EXPECT_NEAR(value_of(list[0], ValueStage::refine, "conv"), 0.3 * 0.6, 1e-9);
}

}  // namespace
}  // namespace kerf::memory
