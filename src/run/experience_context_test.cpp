#include "run/experience_context.hpp"

#include <gtest/gtest.h>

#include "memory/fake_memory_store.hpp"
#include "memory/memory_fixture.hpp"
#include "run/remembering.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

using memory::Experience;
using memory::ValueStage;

const Task kTask = memory::made_up_task("softmax", "softmax(x, axis=-1)");
const Task kOther = memory::made_up_task("log_softmax", "log_softmax(x, axis=-1)");

memory::TaskSignature here() { return memory::signature_of(kTask, "cpu", {"a processor", "x86-64", 2, 1e6}); }

Experience kernel_of(const Task& task, const std::string& source) {
  Experience one = memory::made_up_kernel(task, "passes", 64, 1);
  one.recipe = {};
  set_source(one, source);
  one.id = experience_id(one);
  return one;
}

/// A step whose writer was shown `context`: it passes, or does not compile.
Step written(std::int64_t number, bool passes, std::vector<std::string> context) {
  Step step;
  step.number = number;
  step.proposer = "llm";
  step.source = "int kernel" + std::to_string(number) + ";";
  step.provenance.prompt = "draft-1";
  step.provenance.context = std::move(context);
  step.evaluation.outcome = BuildFailed{"default", "error: expected ';'"};
  Measurement measurement;
  measurement.speedup = {"naive", 2, 2, 2};
  if (passes) step.evaluation.outcome = measurement;
  return step;
}

class ExperienceContextTest : public ::testing::Test {
 protected:
  std::unique_ptr<ExperienceContext> open(const std::string& run = "new run") {
    std::vector<std::string> skipped;
    memory::ShownOptions options;
    options.kernels = 1;
    return ExperienceContext::open(memory_, here(), options, run, "cpp", skipped).value();
  }
  std::vector<agents::ContextItem> select(const ExperienceContext& context, std::uint64_t seed) {
    ProposalRequest request;
    request.seed = seed;
    return context.select(request);
  }
  FakeMemoryStore memory_;
};

TEST_F(ExperienceContextTest, AKernelIsShownWithItsSourceAndWhereItComesFrom) {
  const Experience one = kernel_of(kOther, "int wide_loads;");
  ASSERT_TRUE(memory_.add({one}));
  const auto context = open();
  std::vector<agents::ContextItem> items;
  for (std::uint64_t seed = 1; items.empty(); ++seed) items = select(*context, seed);
  EXPECT_EQ(items[0].id, "experience:" + one.id);
  EXPECT_EQ(items[0].kind, "experience");
  for (const char* part : {"int wide_loads;", "task: log_softmax", "operator family: reduce", "```cpp", "10 times"})
    EXPECT_NE((items[0].title + items[0].text).find(part), std::string::npos) << part << "\n" << items[0].text;
}

TEST_F(ExperienceContextTest, ARunIsNotShownItsOwnKernels) {
  ASSERT_TRUE(memory_.add({kernel_of(kTask, "int own;")}));
  EXPECT_EQ(open("a run")->size(), 0u);
  EXPECT_EQ(open("another run")->size(), 1u);
}

TEST_F(ExperienceContextTest, WithinARunWhatHelpsIsSoonShownMore) {
  const Experience good = kernel_of(kTask, "int good;"), bad = kernel_of(kTask, "int bad;");
  ASSERT_TRUE(memory_.add({good, bad}));
  const auto context = open();
  for (int i = 1; i <= 60; ++i) {
    const bool helped = i % 2 == 0;
    context->observe(written(i, helped, {"experience:" + (helped ? good : bad).id}));
  }
  int shown_good = 0, shown_bad = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    for (const auto& item : select(*context, seed))
      ++(item.id.find(good.id) != std::string::npos ? shown_good : shown_bad);
  EXPECT_GT(shown_good, 2 * shown_bad);
}

TEST_F(ExperienceContextTest, TheMemoryLearnsFromTheRunWhatWasShown) {
  const Experience good = kernel_of(kOther, "int good;"), bad = kernel_of(kOther, "int bad;");
  ASSERT_TRUE(memory_.add({good, bad}));
  FakeRunStore run;
  ASSERT_TRUE(run.set("run_id", "new run"));
  for (int i = 1; i <= 8; ++i) {
    const bool helped = i % 2 == 0;
    ASSERT_TRUE(run.append(written(i, helped, {"experience:" + (helped ? good : bad).id, "skill:blocked"})));
  }
  ASSERT_TRUE(remember(memory_, run, kTask, here(), nullptr, memory::Rule::kerf, 5));
  std::vector<std::string> skipped;
  int written_kernels = 0, failures = 0;
  const auto known = memory_.experiences("cpu", skipped).value();
  for (const Experience& one : known) {
    const double value = value_of(one, ValueStage::draft_shown, "reduce");
    if (one.id == good.id) {
      EXPECT_GT(value, 0.2);
    }
    if (one.id == bad.id) {
      EXPECT_LT(value, -0.2);
    }
    if (one.task != kTask.name) continue;
    ++(one.kind == memory::kKernelKind ? written_kernels : failures);
    EXPECT_EQ(memory_.source(one.id).value().empty(), one.kind == memory::kFailureKind);
  }
  EXPECT_EQ(written_kernels, 4) << "all that passed";
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(memory_.uses(good.id).value().size(), 4u);
}

TEST_F(ExperienceContextTest, KernelsOfTheSameTaskAreStartPointsByTheirValue) {
  Experience slow = kernel_of(kTask, "int slow;"), fast = kernel_of(kTask, "int fast;");
  slow.values[ValueStage::refine].all = {5, -0.4};
  fast.values[ValueStage::refine].all = {5, 0.3};
  ASSERT_TRUE(memory_.add({slow, fast, kernel_of(kOther, "int other;")}));
  memory::Recollection found;
  memory::RetrieveOptions options;
  options.count = 2;
  ASSERT_TRUE(recall_sources(memory_, kTask.id, here(), options, true, 1, found));
  const auto back = memory::recollection_from_json(to_json(found));
  ASSERT_TRUE(back) << back.error().message;
  const auto kernels = remembered_kernels(*back, nullptr);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].source, "int fast;");
  EXPECT_EQ(kernels[1].source, "int slow;");
  EXPECT_EQ(kernels[0].provenance.context, std::vector<std::string>{"experience:" + fast.id});
}

}  // namespace
}  // namespace kerf
