#include "oracle/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::oracle {
namespace {

ir::HostTensor tensor(Family family, std::int64_t n, std::uint64_t seed = 1, DType dtype = DType::f32) {
  const ir::TensorType type{"x", dtype, {Dim::symbol("n")}};
  auto drawn = draw(type, {{"n", n}}, family, std::nullopt, seed);
  EXPECT_TRUE(drawn) << drawn.error().message;
  return *drawn;
}

TEST(Draw, TheSameSeedGivesTheSameBytesAndAnotherSeedOthers) {
  EXPECT_EQ(tensor(Family::normal, 1000, 1).bytes, tensor(Family::normal, 1000, 1).bytes);
  EXPECT_NE(tensor(Family::normal, 1000, 1).bytes, tensor(Family::normal, 1000, 2).bytes);
}

TEST(Draw, NormalHasMixedSignAndUnitDeviation) {
  const ir::HostTensor x = tensor(Family::normal, 100000);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    sum += x.as<float>()[i];
    squares += static_cast<double>(x.as<float>()[i]) * x.as<float>()[i];
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Draw, SpecialsAlwaysHoldANonFiniteElementAndMostlyOrdinaryOnes) {
  for (const std::int64_t n : {1, 7, 1000, 100000}) {
    const ir::HostTensor x = tensor(Family::specials, n);
    std::int64_t bad = 0;
    for (std::int64_t i = 0; i < n; ++i) bad += std::isfinite(x.as<float>()[i]) ? 0 : 1;
    EXPECT_GE(bad, 1) << n;
    EXPECT_LE(bad, 1 + n / 10000) << n;
  }
}

TEST(Draw, IntegersAreExactSmallAndOfBothSigns) {
  const ir::HostTensor x = tensor(Family::integers, 1000);
  bool negative = false, positive = false;
  for (int i = 0; i < 1000; ++i) {
    const float v = x.as<float>()[i];
    ASSERT_EQ(v, std::round(v));
    ASSERT_LE(std::fabs(v), 4);
    negative |= v < 0;
    positive |= v > 0;
  }
  EXPECT_TRUE(negative && positive);
}

TEST(Draw, LogUniformSpansManyBinades) {
  const ir::HostTensor x = tensor(Family::log_uniform, 10000);
  float low = 1e9F, high = 0;
  for (int i = 0; i < 10000; ++i) {
    low = std::min(low, std::fabs(x.as<float>()[i]));
    high = std::max(high, std::fabs(x.as<float>()[i]));
  }
  EXPECT_LT(low, 0x1.0p-9F);
  EXPECT_GT(high, 0x1.0p9F);
}

TEST(Draw, ATasksDistributionIsObeyed) {
  InputDistribution classes;
  classes.kind = InputDistribution::Kind::integers;
  classes.a = 0;
  classes.b_is_dim = true;
  classes.b_dim = Dim::symbol("n") - Dim(1);
  const ir::TensorType type{"t", DType::i64, {Dim(2000)}};
  const auto drawn = draw(type, {{"n", 7}}, Family::specials, classes, 3);
  ASSERT_TRUE(drawn) << drawn.error().message;
  std::int64_t low = 99, high = -1;
  for (int i = 0; i < 2000; ++i) {
    low = std::min(low, drawn->as<std::int64_t>()[i]);
    high = std::max(high, drawn->as<std::int64_t>()[i]);
  }
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, 6);
}

}  // namespace
}  // namespace kerf::oracle
