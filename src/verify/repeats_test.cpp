#include "verify/repeats.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
  std::string rows(std::function<void(FakeBuffers&)> body, RowSplit split = {}) {
    bench_->kernels = {{std::move(body), 1, std::nullopt}};
    const auto made = with_other_rows(task_, task_.shapes[0], checked_, other_, split).value();
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

TEST_F(RepeatsTest, AWrongCallIsARefusalAndNotJustOtherBits) {
  int calls = 0;
  bench_->kernels = {{[&](FakeBuffers& b) {
                        right(b);
                        if (++calls == 3) b[2].as<float>()[5] += 1;
                      },
                      1, std::nullopt}};
  const std::vector<CallManner> manners(4);
  const Seen seen = compare_repeats(*bench_, 0, checked_, 2, manners, outputs_, {}).value();
  ASSERT_TRUE(std::holds_alternative<Refusal>(seen));
  EXPECT_TRUE(worker_lives(std::get<Refusal>(seen)));
}

TEST_F(RepeatsTest, ChangesInPlaceAreFewAndLeaveValuesThatTheInputHas) {
  oracle::DataSet large;
  large.inputs = {ir::make_tensor(DType::i32, {64, 64})};
  for (int i = 0; i < 4096; ++i) large.inputs[0].as<std::int32_t>()[i] = i;
  Rng rng(3);
  const oracle::DataSet changed = changed_in_place(large, rng);
  int different = 0;
  for (int i = 0; i < 4096; ++i) {
    const std::int32_t value = changed.inputs[0].as<std::int32_t>()[i];
    EXPECT_TRUE(value >= 0 && value < 4096);
    different += value == i ? 0 : 1;
  }
  EXPECT_EQ(different, 64);
  EXPECT_TRUE(changed.expected.empty());
}

TEST_F(RepeatsTest, ASecondUseFindsWhoKeepsWhatTheOutputsHeld) {
  const auto refused = [&](std::function<void(FakeBuffers&)> body) {
    bench_->kernels = {{std::move(body), 1, std::nullopt}};
    return verify_second_use(*bench_, 0, checked_, 2, outputs_, {}).value().has_value();
  };
  EXPECT_FALSE(refused(right));
  EXPECT_EQ(bench_->kernels[0].calls, 3);
  EXPECT_TRUE(refused([](FakeBuffers& b) {
    if (std::isnan(b[2].as<float>()[0])) right(b);
  }));
  std::vector<float> kept;  // of an earlier call, known by one element
  float key = 0;
  EXPECT_TRUE(refused([&](FakeBuffers& b) {
    if (kept.empty() || key != b[0].as<float>()[b[0].elements() - 1]) {
      right(b);
      kept.assign(b[2].as<float>(), b[2].as<float>() + 12);
      key = b[0].as<float>()[b[0].elements() - 1];
    }
    std::copy(kept.begin(), kept.end(), b[2].as<float>());
  }));
}

TEST_F(RepeatsTest, ThreadCountsAreTriedOnTheHostsCores) {
  DeviceFacts facts;
  EXPECT_EQ(repeat_manners(facts).back().threads, 0);
  facts.runs_on_host = true;
  facts.compute_units = 8;
  EXPECT_EQ(repeat_manners(facts).back().threads, 9);
}

TEST_F(RepeatsTest, OtherRowsReplaceEverySecondRowOfBatchedInputsOnly) {
  const auto made = with_other_rows(task_, task_.shapes[0], checked_, other_, {}).value();
  EXPECT_EQ(made.kept, (std::vector<bool>{true, false, true, false}));
  const auto* x = made.data.inputs[0].as<float>();
  EXPECT_EQ(x[0], checked_.inputs[0].as<float>()[0]);
  EXPECT_EQ(x[3], other_.inputs[0].as<float>()[3]);
  EXPECT_EQ(made.data.inputs[1].bytes, checked_.inputs[1].bytes);
  EXPECT_NE(made.data.id, checked_.id);
}

TEST_F(RepeatsTest, RowsThatLookAtTheirNeighboursAreSeen) {
  EXPECT_EQ(rows(right), "");
  EXPECT_EQ(rows(right, {0, true}), "");
  const std::string seen = rows([](FakeBuffers& b) {
    right(b);  // as a kernel does that sums rows in one order or another, depending on what is in them
    if (b[0].as<float>()[3] > 0.1F) b[2].as<std::uint32_t>()[6] ^= 1;
    if (b[0].as<float>()[4] > 0.1F) b[2].as<std::uint32_t>()[7] ^= 1;
    if (b[0].as<float>()[5] > 0.1F) b[2].as<std::uint32_t>()[8] ^= 1;
    b[2].as<std::uint32_t>()[0] ^= b[0].as<float>()[9] > 0 ? 1 : 0;  // a row that another one decides about
  });
  EXPECT_NE(seen.find("row 0 of y has other bits when other rows"), std::string::npos) << seen;
}

TEST_F(RepeatsTest, ARowThatLooksAtTheNextButOneIsSeenByTheSplitThatTellsThemApart) {
  const float seen = checked_.inputs[0].as<float>()[6];
  const auto looks_two_rows_on = [seen](FakeBuffers& b) {
    right(b);
    b[2].as<std::uint32_t>()[0] ^= b[0].as<float>()[6] == seen ? 1 : 0;  // row 2 decides about a bit of row 0
  };
  EXPECT_EQ(rows(looks_two_rows_on, {0, false}), "");  // both are kept
  EXPECT_NE(rows(looks_two_rows_on, {1, false}), "");
}

TEST_F(RepeatsTest, EveryTwoRowsAreToldApartInBothDirections) {
  EXPECT_EQ(split_bits(1), 1);
  for (const std::int64_t rows : {2, 5, 16, 17}) {
    for (std::int64_t kept = 0; kept < rows; ++kept)
      for (std::int64_t changed = 0; changed < rows; ++changed) {
        bool found = kept == changed;
        for (int bit = 0; bit < split_bits(rows); ++bit) found |= (kept >> bit) % 2 != (changed >> bit) % 2;
        EXPECT_TRUE(found) << kept << " and " << changed << " of " << rows;
      }
  }
}

TEST_F(RepeatsTest, ATaskWhoseRowsDependOnEachOtherIsNamed) {
  const auto made = with_other_rows(task_, task_.shapes[0], checked_, other_, {}).value();
  EXPECT_TRUE(check_rows_are_independent(task_, task_.shapes[0], *reference_, checked_, made));
  const Task sums = task_of("y = cumsum(x, axis=0) * w");
  const auto reference = oracle::make_graph_reference(sums).value();
  const auto data = oracle::make_data(sums, *reference, sums.shapes[0], {oracle::Pattern::normal, 7}).value();
  const auto rows = with_other_rows(sums, sums.shapes[0], data, other_, {}).value();
  const Status refused = check_rows_are_independent(sums, sums.shapes[0], *reference, data, rows);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("depends on other rows of the batch 'rows'"), std::string::npos);
}

}  // namespace
}  // namespace kerf
