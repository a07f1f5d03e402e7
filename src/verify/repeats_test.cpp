#include "verify/repeats.hpp"

#include <gtest/gtest.h>

#include "device/fake_bench.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

Task task_of(const std::string& expression) {
  return parse_task(
             "name = \"t\"\n[inputs]\nx = \"f32[rows, cols]\"\nw = \"f32[cols]\"\n[shapes]\n"
             "a = { rows = 4, cols = 3 }\n[reference]\nexpr = \"" +
                 expression + "\"\noutputs = [\"y\"]\n",
             ".", "t.toml")
      .value();
}

/// y = x * w on four rows of three.
class RepeatsTest : public testing::Test {
 protected:
  RepeatsTest() : task_(task_of("y = x * w")), reference_(oracle::make_graph_reference(task_).value()) {
    for (auto* data : {&checked_, &other_})
      *data =
          oracle::make_data(task_, *reference_, task_.shapes[0], {oracle::Pattern::normal, data == &other_ ? 8U : 7U})
              .value();
    bench_ = std::make_unique<FakeBench>(ProblemLayout{{{"x", DType::f32, {4, 3}, BufferRole::input},
                                                        {"w", DType::f32, {3}, BufferRole::input},
                                                        {"y", DType::f32, {4, 3}, BufferRole::output}},
                                                       2});
  }
  static void right(FakeBuffers& b) {
    for (int i = 0; i < 12; ++i) b[2].as<float>()[i] = b[0].as<float>()[i] * b[1].as<float>()[i % 3];
  }
  std::string repeats(std::function<void(FakeBuffers&)> body) {
    bench_->kernels = {{std::move(body), 1, std::nullopt}};
    const std::vector<CallManner> manners(4);
    return std::get<std::string>(compare_repeats(*bench_, 0, checked_, 2, manners, outputs_, {}).value());
  }
  std::string rows(std::function<void(FakeBuffers&)> body, bool keep_even = true) {
    bench_->kernels = {{std::move(body), 1, std::nullopt}};
    const auto made = with_other_rows(task_, task_.shapes[0], checked_, other_, keep_even).value();
    return std::get<std::string>(compare_rows(*bench_, 0, checked_, made, outputs_, {}).value());
  }

  Task task_;
  std::unique_ptr<oracle::Reference> reference_;
  oracle::DataSet checked_, other_;
  std::unique_ptr<FakeBench> bench_;
  std::vector<BufferSpec> outputs_{{"y", DType::f32, {4, 3}, BufferRole::output}};
};

TEST_F(RepeatsTest, EqualBitsAreSeenAndOneOtherBitIsToo) {
  EXPECT_EQ(repeats(right), "");
  int calls = 0;
  const std::string seen = repeats([&](FakeBuffers& b) {
    right(b);
    if (++calls == 3) b[2].as<std::uint32_t>()[5] ^= 1;
  });
  EXPECT_NE(seen.find("y has other bits in call 3 of 4"), std::string::npos) << seen;
}

TEST_F(RepeatsTest, AFailedCallIsARefusal) {
  bench_->kernels = {{right, 1, Fault{Fault::Kind::crashed, "signal 11"}}};
  const std::vector<CallManner> manners(2);
  const Seen seen = compare_repeats(*bench_, 0, checked_, 2, manners, outputs_, {}).value();
  EXPECT_TRUE(std::holds_alternative<Refusal>(seen));
}

TEST_F(RepeatsTest, ThreadCountsAreTriedOnTheHostsCores) {
  DeviceFacts facts;
  EXPECT_EQ(repeat_manners(facts).back().threads, 0);
  facts.runs_on_host = true;
  facts.compute_units = 8;
  EXPECT_EQ(repeat_manners(facts).back().threads, 9);
}

TEST_F(RepeatsTest, OtherRowsReplaceEverySecondRowOfBatchedInputsOnly) {
  const auto made = with_other_rows(task_, task_.shapes[0], checked_, other_, true).value();
  EXPECT_EQ(made.kept, (std::vector<bool>{true, false, true, false}));
  const auto* x = made.data.inputs[0].as<float>();
  EXPECT_EQ(x[0], checked_.inputs[0].as<float>()[0]);
  EXPECT_EQ(x[3], other_.inputs[0].as<float>()[3]);
  EXPECT_EQ(made.data.inputs[1].bytes, checked_.inputs[1].bytes);
  EXPECT_NE(made.data.id, checked_.id);
}

TEST_F(RepeatsTest, RowsThatLookAtTheirNeighboursAreSeen) {
  EXPECT_EQ(rows(right), "");
  EXPECT_EQ(rows(right, false), "");
  const std::string seen = rows([](FakeBuffers& b) {
    right(b);  // as a kernel does that sums rows in one order or another, depending on what is in them
    if (b[0].as<float>()[3] > 0.1F) b[2].as<std::uint32_t>()[6] ^= 1;
    if (b[0].as<float>()[4] > 0.1F) b[2].as<std::uint32_t>()[7] ^= 1;
    if (b[0].as<float>()[5] > 0.1F) b[2].as<std::uint32_t>()[8] ^= 1;
    b[2].as<float>()[0] += b[0].as<float>()[9] * 1e-3F;
  });
  EXPECT_NE(seen.find("row 0 of y has other bits when other rows"), std::string::npos) << seen;
}

TEST_F(RepeatsTest, ATaskWhoseRowsDependOnEachOtherIsNamed) {
  const auto made = with_other_rows(task_, task_.shapes[0], checked_, other_, true).value();
  EXPECT_TRUE(check_rows_are_independent(task_, task_.shapes[0], *reference_, checked_, made));
  const Task sums = task_of("y = cumsum(x, axis=0) * w");
  const auto reference = oracle::make_graph_reference(sums).value();
  const auto data = oracle::make_data(sums, *reference, sums.shapes[0], {oracle::Pattern::normal, 7}).value();
  const auto rows = with_other_rows(sums, sums.shapes[0], data, other_, true).value();
  const Status refused = check_rows_are_independent(sums, sums.shapes[0], *reference, data, rows);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("depends on other rows of the batch 'rows'"), std::string::npos);
}

}  // namespace
}  // namespace kerf
