#include "bench/real_parts.hpp"

#include <gtest/gtest.h>

#include "bench/bench_fixture.hpp"
#include "bench/compare_stage.hpp"

namespace kerf::bench {
namespace {

pytorch::Program timed(double us) {
  pytorch::Program program;
  program.status = pytorch::ProgramStatus::measured;
  program.times = pytorch::Times{us, {us * 0.9, us * 1.1}, 30};
  return program;
}

/// A kernel twice as fast as eager, right by KernelBench's rule.
pytorch::Comparison good_comparison() {
  pytorch::Comparison comparison;
  comparison.eager = timed(100);
  comparison.compiled = timed(80);
  comparison.kernel = timed(50);
  comparison.over_eager = pytorch::Ratio{2, {1.9, 2.1}};
  comparison.over_compiled = pytorch::Ratio{1.6, {1.5, 1.7}};
  comparison.compiled_over_eager = pytorch::Ratio{1.25, {1.2, 1.3}};
  comparison.kernelbench.decided = comparison.kernelbench.correct = true;
  return comparison;
}

Record searched_record() {
  Record record;
  record.problem = test::made_problem(1, 1);
  record.progress = Progress::exported;
  record.verified = true;
  return record;
}

TEST(SettleComparison, FillsInTimesAndVerdicts) {
  Record record = searched_record();
  pytorch::Comparison comparison = good_comparison();
  comparison.weak = {{"zeros", ""}, {"mean", "1"}};
  const StageEnd end = settle_comparison(comparison, false, record);
  EXPECT_EQ(end.failure, Failure::none);
  EXPECT_TRUE(record.correct);
  EXPECT_EQ(record.kernelbench_correct, true);
  EXPECT_DOUBLE_EQ(record.over_eager->ratio, 2);
  EXPECT_DOUBLE_EQ(record.compiled_over_eager->ratio, 1.25);
  EXPECT_EQ(record.weak, (std::vector<std::string>{"zeros", "mean (output 1)"}));
}

TEST(SettleComparison, AKernelThatIsMoreExactThanEagerIsCorrectForKerfOnly) {
  Record record = searched_record();
  pytorch::Comparison comparison = good_comparison();
  comparison.kernelbench.correct = false;
  comparison.kernelbench.problem = "beyond 1e-4";
  comparison.in_class = true;
  EXPECT_EQ(settle_comparison(comparison, false, record).failure, Failure::none);
  EXPECT_TRUE(record.correct);
  EXPECT_EQ(record.kernelbench_correct, false);
}

TEST(SettleComparison, AKernelThatIsWrongInPyTorchIsAFailureWhateverItsGatesSaid) {
  Record record = searched_record();
  pytorch::Comparison comparison = good_comparison();
  comparison.kernel.status = pytorch::ProgramStatus::wrong;
  comparison.kernelbench.correct = false;
  comparison.in_class = false;
  EXPECT_EQ(settle_comparison(comparison, false, record).failure, Failure::wrong);
  EXPECT_FALSE(record.correct);
}

TEST(SettleComparison, WhatDidNotRunIsAFailureWithItsReason) {
  Record record = searched_record();
  pytorch::Comparison comparison = good_comparison();
  comparison.kernel = {};
  comparison.kernel.status = pytorch::ProgramStatus::failed;
  comparison.kernel.message = "no compiler";
  const StageEnd end = settle_comparison(comparison, false, record);
  EXPECT_EQ(end.failure, Failure::compare_failed);
  EXPECT_NE(end.message.find("no compiler"), std::string::npos);
  EXPECT_TRUE(record.compiled_over_eager) << "PyTorch's own figures stay";
  comparison = good_comparison();
  comparison.eager = {};
  comparison.eager.status = pytorch::ProgramStatus::out_of_memory;
  comparison.over_eager.reset();
  EXPECT_EQ(settle_comparison(comparison, false, record).failure, Failure::compare_failed);
}

TEST(SettleComparison, WithoutAKernelOnlyPyTorchCounts) {
  Record record = searched_record();
  record.failure = Failure::no_kernel;
  settle_comparison(good_comparison(), true, record);
  EXPECT_FALSE(record.over_eager) << "the model beside itself is no result";
  EXPECT_FALSE(record.correct);
  EXPECT_DOUBLE_EQ(record.compiled_over_eager->ratio, 1.25);
}

TEST(ImportFailure, IsReadFromTheMessage) {
  EXPECT_EQ(import_failure("a.py: importing it took more than 5 s and was ended; ..."), Failure::timed_out);
  EXPECT_EQ(import_failure("a.py: Python was ended by signal 9 while importing it; ..."), Failure::crashed);
  EXPECT_EQ(import_failure("a.py: out of memory"), Failure::out_of_memory);
  EXPECT_EQ(import_failure("a.py:3: the file cannot be imported: ModuleNotFoundError"), Failure::broken);
  EXPECT_EQ(import_failure("a.py:9: forward raised: RuntimeError"), Failure::broken);
  EXPECT_EQ(import_failure("a.py:12: dropout is active in training mode"), Failure::refused);
  EXPECT_EQ(import_failure("a.py: no part of the model can be a task: nms"), Failure::refused);
}

/// A run that ended with the plain kernel, which was `times` as fast as the one kernel that was written.
std::int64_t taken_from_run_with(double times) {
  const test::TempFolder folder;
  {
    auto store = create_run_store(folder.path / "run");
    EXPECT_TRUE(store) << store.error().message;
    Step step;
    step.number = 1;
    step.proposer = "builtin";
    Measurement measurement;
    measurement.speedup = {"naive", 1 / times, 1 / times, 1 / times};
    step.evaluation.outcome = measurement;
    EXPECT_TRUE((*store)->append(step));
    step.number = 2;
    step.proposer = kBaselineProposer;
    step.name = "naive";
    measurement.speedup = {"naive", 1, 1, 1};
    measurement.comparison = PairedComparison{1, 1 / times, times, times, times};
    step.evaluation.outcome = measurement;
    EXPECT_TRUE((*store)->append(step));
    EXPECT_TRUE((*store)->set("best_step", "2"));
  }
  Record record;
  const StageEnd end = read_run(folder.path / "run", record);
  EXPECT_EQ(end.failure, Failure::none) << end.message;
  return record.step;
}

TEST(ReadRun, ThePlainKernelIsTakenWhereAllOthersAreClearlySlower) {
  EXPECT_EQ(taken_from_run_with(1.05), 1) << "PyTorch is what it is compared with";
  EXPECT_EQ(taken_from_run_with(7.6), 2);
}

TEST(ReadRun, AFolderWithoutARunIsAFailureNotAnError) {
  const test::TempFolder folder;
  Record record;
  EXPECT_EQ(read_run(folder.path / "run", record).failure, Failure::search_failed);
}

}  // namespace
}  // namespace kerf::bench
