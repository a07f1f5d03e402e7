#include "verify/soak.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "device/fake_bench.hpp"

namespace kerf {
namespace {

/// y = 2 x on three elements, every call takes 10 us by the clock.
class SoakTest : public testing::Test {
 protected:
  SoakTest()
      : bench_(
            ProblemLayout{{{"x", DType::f32, {3}, BufferRole::input}, {"y", DType::f32, {3}, BufferRole::output}}, 4},
            {}, &clock_) {
    for (int k = 0; k < 3; ++k) {
      auto& data = checked_[k];
      data.inputs = {ir::make_tensor(DType::f32, {3})};
      data.expected = {ir::make_tensor(DType::f64, {3})};
      data.bound = {ir::make_tensor(DType::f64, {3})};
      for (int i = 0; i < 3; ++i) {
        data.inputs[0].as<float>()[i] = static_cast<float>(i + 10 * k) + 1;
        data.expected[0].as<double>()[i] = 2.0 * (i + 10 * k) + 2;
        data.bound[0].as<double>()[i] = 1e-6;
      }
    }
  }
  SoakResult run(std::function<void(FakeBuffers&)> body, SoakOptions options = {}) {
    bench_.kernels = {{std::move(body), 10, std::nullopt}};
    Rng rng(5);
    return soak(bench_, 0, {&checked_[0], &checked_[1], &checked_[2]}, 4, {{"y", DType::f32, {3}, BufferRole::output}},
                options, clock_, rng)
        .value();
  }
  static void right(FakeBuffers& b) {
    for (int i = 0; i < 3; ++i) b[1].as<float>()[i] = 2 * b[0].as<float>()[i];
  }

  FakeClock clock_;
  FakeBench bench_;
  std::array<oracle::DataSet, 3> checked_;
};

TEST_F(SoakTest, CallsUntilTheBudgetOrTheCountIsUsedUp) {
  SoakOptions options;
  options.max_calls = 1000;
  const auto by_count = run(right, options);
  EXPECT_FALSE(by_count.refusal);
  EXPECT_GE(by_count.calls, 1000);
  EXPECT_LE(by_count.calls, 1003);
  options.max_calls = 1 << 30;
  options.budget = std::chrono::milliseconds(5);
  const auto by_time = run(right, options);
  EXPECT_NEAR(static_cast<double>(by_time.calls), 500, 10);
}

TEST_F(SoakTest, FindsAKernelThatIsWrongOnceInAThousandCalls) {
  int calls = 0;
  const auto result = run([&](FakeBuffers& b) {
    right(b);
    if (++calls % 1000 == 0) b[1].as<float>()[1] = 0;
  });
  ASSERT_TRUE(result.refusal);
  const auto& wrong = std::get<WrongResult>(*result.refusal);
  EXPECT_EQ(wrong.gate, Gate::soak);
  EXPECT_NE(wrong.message.find("of the soak"), std::string::npos) << wrong.message;
}

TEST_F(SoakTest, EverySlotAndAllDataAreUsed) {
  (void)run(right);
  for (int slot = 0; slot < 4; ++slot) EXPECT_GT(std::count(bench_.ran.begin(), bench_.ran.end(), slot), 100);
}

TEST_F(SoakTest, AFaultSaysAtWhichCall) {
  bench_.kernels = {{right, 10, Fault{Fault::Kind::crashed, "signal 11"}, 0, 300}};
  Rng rng(5);
  const auto result = soak(bench_, 0, {&checked_[0]}, 4, {{"y", DType::f32, {3}, BufferRole::output}}, {}, clock_, rng);
  ASSERT_TRUE(result && result->refusal);
  EXPECT_NE(std::get<Crashed>(*result->refusal).message.find("of the soak"), std::string::npos);
}

}  // namespace
}  // namespace kerf
