#include "verify/guest.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/fake_bench.hpp"

namespace kerf {
namespace {

/// y = 2 x on three elements.
class GuestGate : public testing::Test {
 protected:
  GuestGate()
      : bench_(
            ProblemLayout{{{"x", DType::f32, {3}, BufferRole::input}, {"y", DType::f32, {3}, BufferRole::output}}, 1}) {
    auto& data = checked_;
    data.inputs = {ir::make_tensor(DType::f32, {3})};
    data.expected = {ir::make_tensor(DType::f64, {3})};
    data.bound = {ir::make_tensor(DType::f64, {3})};
    for (int i = 0; i < 3; ++i) {
      data.inputs[0].as<float>()[i] = static_cast<float>(i) + 1;
      data.expected[0].as<double>()[i] = 2.0 * i + 2;
      data.bound[0].as<double>()[i] = 1e-6;
    }
  }
  std::optional<Refusal> refusal(FakeBench::Kernel kernel, const GuestVisit& visit = {}) {
    bench_.kernels = {std::move(kernel)};
    return verify_guest(bench_, 0, 0, checked_, {{"y", DType::f32, {3}, BufferRole::output}}, visit, {}).value();
  }
  static FakeBench::Kernel with(std::function<void(FakeBuffers&)> body) { return {std::move(body), 1, std::nullopt}; }
  static void right(FakeBuffers& b) {
    for (int i = 0; i < 3; ++i) b[1].as<float>()[i] = 2 * b[0].as<float>()[i];
  }

  FakeBench bench_;
  oracle::DataSet checked_;
};

TEST_F(GuestGate, AGoodGuestPassesInEveryManner) {
  EXPECT_FALSE(refusal(with(right)));
  EXPECT_EQ(bench_.kernels[0].calls, 4);
  EXPECT_GE(bench_.manners[0].threads, 17) << "more than a small machine has";
}

TEST_F(GuestGate, OnOtherShapesLargeBuffersAreCopiedOnceAndSlowKernelsAreNotRepeated) {
  EXPECT_FALSE(refusal(with(right), {.smallest = false, .slot_bytes = 1 << 10, .call_us = 10}));
  EXPECT_EQ(bench_.kernels[0].calls, 4);
  EXPECT_FALSE(refusal(with(right), {.smallest = false, .slot_bytes = 1 << 10, .call_us = 5000}));
  EXPECT_EQ(bench_.kernels[0].calls, 3);
  bench_.manners.clear();
  EXPECT_FALSE(refusal(with(right), {.smallest = false, .slot_bytes = 1LL << 30, .call_us = 5000}));
  ASSERT_EQ(bench_.manners.size(), 1U);
  EXPECT_EQ(bench_.manners[0].guest, CallManner::Guest::off_by_one);
}

TEST_F(GuestGate, OneCallerFlushesDenormalsUnlessOrdinaryNumbersAreDenormal) {
  const auto flushing = [&](bool flushes) {
    bench_.manners.clear();
    EXPECT_FALSE(refusal(with(right), {.flushes = flushes}));
    return std::ranges::count_if(bench_.manners, [](const CallManner& manner) { return manner.flushes; });
  };
  EXPECT_EQ(flushing(true), 1);
  EXPECT_EQ(flushing(false), 0);
}

TEST_F(GuestGate, AFaultIsRefusedAtItsOwnGate) {
  const auto refused = refusal({right, 1, Fault{Fault::Kind::crashed, "SIGSEGV"}, 0, 1});
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<Rejected>(*refused).gate, Gate::side_effects);
  EXPECT_NE(std::get<Rejected>(*refused).message.find("aligned to their elements only"), std::string::npos);
}

TEST_F(GuestGate, WhatTheSandboxRefusesAndHangsKeepTheirGates) {
  const auto forbidden = refusal({right, 1, Fault{Fault::Kind::forbidden, "fork"}});
  EXPECT_EQ(std::get<Rejected>(*forbidden).gate, Gate::sandbox);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(*refusal({right, 1, Fault{Fault::Kind::timed_out, "slow"}})));
}

TEST_F(GuestGate, ValuesAreCheckedToo) {
  const auto refused = refusal(with([](FakeBuffers& b) { right(b), b[1].as<float>()[2] = 7; }));
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<WrongResult>(*refused).gate, Gate::values);
}

}  // namespace
}  // namespace kerf
