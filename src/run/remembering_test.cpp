#include "run/remembering.hpp"

#include <gtest/gtest.h>

#include "codegen/dialects/dialects.hpp"
#include "ir/expression/expression.hpp"
#include "memory/fake_memory_store.hpp"
#include "run/row_task_fixture.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {
namespace {

DeviceFacts processor() {
  DeviceFacts facts;
  facts.name = "a processor";
  facts.arch = "x86-64";
  facts.compute_units = 2;
  return facts;
}

std::unique_ptr<synth::Synthesiser> synthesiser_of(const Task& task) {
  return synth::Synthesiser::create(task, "cpu", codegen::dialects::cpp, processor()).value();
}

/// A run on the task that measured its first guesses, the first one fastest.
FakeRunStore run_of(const Task& task, const synth::Synthesiser& synthesiser, const std::string& id) {
  FakeRunStore run;
  EXPECT_TRUE(run.set("run_id", id));
  std::int64_t number = 0;
  for (const synth::Genome& genome : synthesiser.starts()) {
    Step step;
    step.number = ++number;
    step.proposer = "builtin";
    step.operation = kStartOperation;
    step.genome = synth::to_json(genome);
    step.evaluation.task = task.name;
    const double speedup = 10.0 / static_cast<double>(number);
    Measurement measurement;
    measurement.speedup = {"naive", speedup, speedup, speedup};
    step.evaluation.outcome = measurement;
    EXPECT_TRUE(run.append(step));
  }
  return run;
}

TEST(Remembering, ATaskBeginsWithWhatWorkedOnOneLikeIt) {
  const Task softmax = row_task("softmax", "softmax(x, axis=-1)");
  const Task norm = row_task("norm", "x * rsqrt(mean(x*x, axis=-1, keepdims=true) + 1e-6)");
  const auto from = synthesiser_of(softmax), to = synthesiser_of(norm);
  FakeMemoryStore memory;
  ASSERT_TRUE(remember(memory, run_of(softmax, *from, "one"), softmax, signature_for(softmax, "cpu", processor()),
                       from.get(), memory::Rule::kerf, 5));
  std::vector<std::string> skipped;
  const auto found = recall(memory, signature_for(norm, "cpu", processor()), {}, 1, {}, skipped);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_FALSE(found->items.empty());
  const auto kernels = remembered_kernels(*found, to.get());
  ASSERT_FALSE(kernels.empty());
  EXPECT_NE(kernels[0].change.find("remembered from softmax"), std::string::npos) << kernels[0].change;
  EXPECT_EQ(kernels[0].provenance.context, std::vector<std::string>{"experience:" + found->items[0].id});
  const auto fastest = from->starts().front();
  const auto first = synth::genome_from_json(kernels[0].genome).value();
  EXPECT_EQ(first.genes[0].family, fastest.genes[0].family);

  const auto mind = make_remembered(kernels);
  ProposalRequest request;
  request.operation = kStartOperation;
  EXPECT_EQ((*mind->propose(request))->source, kernels[0].source);
  request.start_number = kernels.size();
  EXPECT_FALSE(mind->propose(request)->has_value());
}

TEST(Remembering, ARunThatIsResumedTeachesNothingTwice) {
  const Task task = row_task("softmax", "softmax(x, axis=-1)");
  const auto synthesiser = synthesiser_of(task);
  const auto signature = signature_for(task, "cpu", processor());
  FakeMemoryStore memory;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(
        remember(memory, run_of(task, *synthesiser, "one"), task, signature, synthesiser.get(), memory::Rule::kerf, 5));
  std::vector<std::string> skipped;
  const auto once = memory.experiences("cpu", skipped).value();
  EXPECT_FALSE(once.empty());
  for (const auto& one : once) EXPECT_EQ(one.seen, 1);
  ASSERT_TRUE(
      remember(memory, run_of(task, *synthesiser, "two"), task, signature, synthesiser.get(), memory::Rule::kerf, 5));
  const auto twice = memory.experiences("cpu", skipped).value();
  EXPECT_EQ(twice.size(), once.size());
  for (const auto& one : twice) EXPECT_EQ(one.seen, 2);
}

TEST(Remembering, WhatARunTookStaysInFrontWhenItLooksAgain) {
  const Task task = row_task("softmax", "softmax(x, axis=-1)");
  const auto synthesiser = synthesiser_of(task);
  const auto signature = signature_for(task, "cpu", processor());
  FakeMemoryStore memory;
  ASSERT_TRUE(
      remember(memory, run_of(task, *synthesiser, "one"), task, signature, synthesiser.get(), memory::Rule::kerf, 5));
  std::vector<std::string> skipped;
  memory::RetrieveOptions options;
  options.count = 1;
  const auto first = recall(memory, signature, options, 1, {}, skipped).value();
  const auto second = recall(memory, signature, options, 1, first, skipped).value();
  ASSERT_EQ(second.items.size(), 2u);
  EXPECT_EQ(second.items[0].id, first.items[0].id);
  EXPECT_NE(second.items[1].id, first.items[0].id);
  EXPECT_EQ(second.advice, first.advice);
}

}  // namespace
}  // namespace kerf
