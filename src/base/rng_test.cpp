#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf {
namespace {

TEST(Rng, SameSeedReplaysTheSameNumbers) {
  Rng a(7), b(7), c(8);
  const auto first = a.bits();
  EXPECT_EQ(first, b.bits());
  EXPECT_NE(first, c.bits());
}

TEST(Rng, ForksDependOnLabelAndSeedOnly) {
  Rng a(7);
  a.bits();  // drawing does not change what a fork gives
  EXPECT_EQ(a.fork("x").bits(), Rng(7).fork("x").bits());
  EXPECT_NE(a.fork("x").bits(), a.fork("y").bits());
}

TEST(Rng, NormalHasMeanZeroAndUnitDeviation) {
  Rng rng(1);
  double sum = 0, squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.05);
  EXPECT_NEAR(squares / kDraws, 1, 0.05);
}

TEST(Rng, IntegerIncludesBothEnds) {
  Rng rng(3);
  bool low = false, high = false;
  for (int i = 0; i < 200; ++i) {
    const auto x = rng.integer(-2, 2);
    ASSERT_GE(x, -2);
    ASSERT_LE(x, 2);
    low |= x == -2;
    high |= x == 2;
  }
  EXPECT_TRUE(low && high);
}

}  // namespace
}  // namespace kerf
