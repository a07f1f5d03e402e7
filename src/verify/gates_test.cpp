#include "verify/gates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "device/fake_bench.hpp"
#include "verify/verify.hpp"

namespace kerf {
namespace {

constexpr std::int64_t kN = 6;

/// y = 2 x on six elements, one of each sign and size.
class GatesTest : public testing::Test {
 protected:
  GatesTest()
      : bench_(ProblemLayout{
            {{"x", DType::f32, {2, 3}, BufferRole::input}, {"y", DType::f32, {2, 3}, BufferRole::output}}, 2}) {
    outputs_ = {{"y", DType::f32, {2, 3}, BufferRole::output}};
    auto& data = data_;
    data.shape = "tail";
    data.distribution = "normal";
    data.inputs = {ir::make_tensor(DType::f32, {2, 3})};
    data.expected = {ir::make_tensor(DType::f64, {2, 3})};
    data.bound = {ir::make_tensor(DType::f64, {2, 3})};
    for (int i = 0; i < kN; ++i) {
      data.inputs[0].as<float>()[i] = static_cast<float>(i) - 2.5F;
      data.expected[0].as<double>()[i] = 2.0 * (i - 2.5);
      data.bound[0].as<double>()[i] = 1e-6;
    }
  }

  Refusal refused(std::function<void(FakeBuffers&)> body) {
    bench_.kernels = {{std::move(body), 1, std::nullopt, 0}};
    const auto result = verify(bench_, 0, {&data_}, 2, outputs_, {});
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->has_value()) << "was accepted";
    return result->value_or(Rejected{Gate::parse, "accepted"});
  }

  static void right(FakeBuffers& b) {
    for (int i = 0; i < kN; ++i) b[1].as<float>()[i] = 2 * b[0].as<float>()[i];
  }

  FakeBench bench_;
  std::vector<BufferSpec> outputs_;
  oracle::DataSet data_;
};

TEST_F(GatesTest, ARightKernelPassesUnderBothPoisons) {
  bench_.kernels = {{right, 1, std::nullopt, 0}};
  const auto result = verify(bench_, 0, {&data_}, 2, outputs_, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->has_value());
  EXPECT_EQ(bench_.kernels[0].calls, 2 + 11);  // two poisons, then batches of two calls, one on each slot
}

TEST_F(GatesTest, AKernelThatWritesNothingIsWrongEverywhere) {
  const Refusal refusal = refused([](FakeBuffers&) {});
  const auto& wrong = std::get<WrongResult>(refusal);
  EXPECT_EQ(wrong.gate, Gate::values);
  EXPECT_EQ(wrong.evidence->wrong, kN);
}

TEST_F(GatesTest, EvidenceNamesTheWorstElementAndTheBox) {
  const Refusal refusal = refused([](FakeBuffers& b) {
    right(b);
    b[1].as<float>()[4] += 1;
  });
  const auto& evidence = *std::get<WrongResult>(refusal).evidence;
  EXPECT_EQ(evidence.worst_index, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(evidence.box_low, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(evidence.box_high, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(evidence.expected, 3.0);
  EXPECT_EQ(evidence.actual, 4.0);
}

TEST_F(GatesTest, ChangingAnInputIsRefusedEvenWithRightOutputs) {
  const Refusal refusal = refused([](FakeBuffers& b) {
    right(b);
    b[0].as<float>()[0] = 0;
  });
  EXPECT_EQ(std::get<Rejected>(refusal).gate, Gate::inputs_unchanged);
}

TEST_F(GatesTest, ABrokenRedZoneIsRefused) {
  bench_.broken_red_zones = {"y"};
  EXPECT_EQ(std::get<Rejected>(refused(right)).gate, Gate::red_zone);
}

TEST_F(GatesTest, ErrorsWithinTheBoundButFarAboveHonestOnesAreALowerPrecision) {
  data_.honest = {{6, 0.01, 0.02, {}}};
  const Refusal refusal = refused([](FakeBuffers& b) {
    for (int i = 0; i < kN; ++i) b[1].as<float>()[i] = 2 * b[0].as<float>()[i] + 2e-6F;
  });
  EXPECT_EQ(std::get<WrongResult>(refusal).gate, Gate::accuracy);
}

TEST_F(GatesTest, AKernelThatStopsWorkingAfterAFewCallsIsCaughtInTheBatch) {
  int calls = 0;
  const Refusal refusal = refused([&](FakeBuffers& b) {
    if (++calls <= 6) right(b);
  });
  EXPECT_NE(std::get<WrongResult>(refusal).message.find("repeated calls"), std::string::npos);
}

TEST_F(GatesTest, NoCallGoesWithoutBeingCompared) {
  for (int wrong = 1; wrong <= 13; ++wrong) {
    int calls = 0;
    const Refusal refusal = refused([&](FakeBuffers& b) {
      right(b);
      if (++calls == wrong) b[1].as<float>()[0] = 0;
    });
    EXPECT_TRUE(std::holds_alternative<WrongResult>(refusal)) << "call " << wrong;
  }
}

TEST_F(GatesTest, EveryAddressComesBackWithOtherDataHoweverManySlotsThereAre) {
  FakeBench bench({{{"x", DType::f32, {2, 3}, BufferRole::input}, {"y", DType::f32, {2, 3}, BufferRole::output}}, 64});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::set<const std::byte*> seen;
    bench.kernels = {{[&](FakeBuffers& b) {
                        if (seen.insert(reinterpret_cast<const std::byte*>(&b)).second) right(b);
                      },
                      1, std::nullopt, 0}};
    VerifyOptions options;
    options.seed = seed;
    const auto result = verify(bench, 0, {&data_, &data_, &data_, &data_}, 64, outputs_, options);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->has_value()) << "a kernel that skips known addresses passed with seed " << seed;
  }
}

TEST_F(GatesTest, CallsDifferInTheirNumberOfThreads) {
  const std::vector<const oracle::DataSet*> data(20, &data_);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    VerifyOptions options;
    options.seed = seed;
    options.cores = 2;
    bench_.kernels = {{right, 1, std::nullopt, 0}};
    bench_.manners.clear();
    ASSERT_TRUE(verify(bench_, 0, data, 2, outputs_, options));
    std::set<int> threads;
    for (const CallManner& manner : bench_.manners) threads.insert(manner.threads);
    EXPECT_GE(threads.size(), 3U);
    options.cores = 0;
    bench_.manners.clear();
    ASSERT_TRUE(verify(bench_, 0, data, 2, outputs_, options));
    EXPECT_TRUE(bench_.manners.empty()) << "not a processor";
  }
}

TEST_F(GatesTest, FaultsKeepTheirKind) {
  bench_.kernels = {{right, 1, Fault{Fault::Kind::timed_out, "hung"}, 0}};
  auto result = verify(bench_, 0, {&data_}, 2, outputs_, {});
  EXPECT_TRUE(std::holds_alternative<TimedOut>(**result));
  bench_.kernels[0].fault = Fault{Fault::Kind::forbidden, "openat"};
  result = verify(bench_, 0, {&data_}, 2, outputs_, {});
  EXPECT_EQ(std::get<Rejected>(**result).gate, Gate::sandbox);
}

TEST(StaticBudget, RefusesGlobalsConstructorsAndForeignSymbols) {
  EXPECT_FALSE(judge_static({}).has_value());
  EXPECT_TRUE(judge_static({{"cache (4 bytes)"}, {}, {}, {}}).has_value());
  EXPECT_TRUE(judge_static({{}, {"ptrace"}, {}, {}}).has_value());
  EXPECT_TRUE(judge_static({{}, {}, {"init"}, {}}).has_value());
}

TEST(Floor, RefusesWhatIsFasterThanPhysicsBeyondTheMargin) {
  EXPECT_FALSE(judge_floor(80, 100, "default").has_value());
  const auto refusal = judge_floor(79, 100, "default");
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(std::get<Rejected>(*refusal).gate, Gate::floor);
  EXPECT_NE(std::get<Rejected>(*refusal).message.find("shape 'default'"), std::string::npos);
}

TEST(ClockGate, RefusesADeviceClockThatRunsAheadOfTheHosts) {
  EXPECT_FALSE(judge_clock(0).has_value());  // no device clock
  EXPECT_FALSE(judge_clock(1.5).has_value());
  const auto refusal = judge_clock(1.6);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(std::get<Rejected>(*refusal).gate, Gate::clock);
}

}  // namespace
}  // namespace kerf
