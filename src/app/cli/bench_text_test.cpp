#include "app/cli/bench_text.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "bench/bench_fixture.hpp"

namespace kerf::cli {
namespace {

using bench::Failure;
using bench::Record;

/// Names and messages as long as KernelBench's, and problems that failed in every way.
bench::BenchState long_state() {
  bench::BenchState state;
  for (int i = 1; i <= 30; ++i) {
    Record record = i % 3 == 0 ? bench::test::failed_record(1 + i % 2, i, static_cast<Failure>(1 + i / 3), "search")
                               : bench::test::good_record(1 + i % 2, i, 0.1 * i * i);
    record.problem.name =
        std::to_string(i) + "_conv_transposed_2D_asymmetric_input_asymmetric_kernel_strided__grouped____padded__";
    if (record.failure != Failure::none)
      record.message =
          "/a/long/way/to/the/folder/of/the/bench/level1/x/x.py:12: dropout is active in training mode, and tasks "
          "have no random numbers\n  x.py:12: more";
    if (i == 4) record.kernelbench_correct = false;
    if (i == 5) record.weak = {"zeros"};
    record.kernel = "conv/tensor_f16 + row/block + row/block + pointwise/vector + direct/items + pool/strips";
    state.records.push_back(std::move(record));
  }
  state.records.emplace_back().problem = bench::test::made_problem(2, 99);
  return state;
}

TEST(BenchText, NoLineIsWiderThanEightyColumns) {
  const bench::BenchState state = long_state();
  for (const std::string& line : split(bench_summary(state, {}), '\n')) EXPECT_LE(line.size(), 80u) << line;
  for (const Record& record : state.records)
    for (const std::size_t columns : {79u, 60u}) EXPECT_LE(problem_line(record, {}, columns).size(), columns + 1);
  bench::BenchProgress progress{250, 111, 22, 12345, 23456, 88};
  EXPECT_LE(progress_words(progress).size(), 79u) << progress_words(progress);
}

TEST(BenchText, TheSummaryHasScoresTheBestTheWorstAndReasons) {
  const std::string text = bench_summary(long_state(), {});
  for (const char* words :
       {"level 1", "level 2", "all levels", "fast_1.2", "torch.compile over eager", "KernelBench's verdict", "weak",
        "1 not done yet", "best", "worst", "failures by reason", "no kernel passed every gate"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_NE(text.find("line 12: dropout is active"), std::string::npos) << "the path in front says nothing new\n"
                                                                        << text;
  EXPECT_EQ(text.find("/a/long/way"), std::string::npos);
}

TEST(BenchText, AFewProblemsAreNotShownTwice) {
  bench::BenchState state;
  state.records = {bench::test::good_record(1, 1, 3), bench::test::good_record(1, 2, 0.5)};
  const std::string text = bench_summary(state, {});
  EXPECT_EQ(text.find("1/1 Made up"), text.rfind("1/1 Made up")) << text;
  EXPECT_NE(text.find("worst"), std::string::npos);
}

TEST(BenchText, WhatIsLeftIsSaidUntilAllIsDone) {
  EXPECT_EQ(progress_words({10, 4, 1, 60, 90, 2}), "4 of 10 problems, 1 failed, 2 faster; 60 s, about 90 s left");
  EXPECT_EQ(progress_words({1, 1, 0, 60, 0, 1}), "1 of 1 problem, 1 faster; 60 s");
}

}  // namespace
}  // namespace kerf::cli
