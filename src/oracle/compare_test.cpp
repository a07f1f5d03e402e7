#include "oracle/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kerf::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// An f32 output of `actual` against `expected` with one bound for all.
struct Case {
  ir::HostTensor actual, expected, bound;

  Case(std::vector<float> a, std::vector<double> e, double b)
      : actual(ir::make_tensor(DType::f32, {static_cast<std::int64_t>(a.size())})),
        expected(ir::make_tensor(DType::f64, actual.shape)),
        bound(ir::make_tensor(DType::f64, actual.shape)) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      actual.as<float>()[i] = a[i];
      expected.as<double>()[i] = e[i];
      bound.as<double>()[i] = b;
    }
  }
  CompareStats stats(bool nan_is_free = false) const {
    return compare(actual.dtype, actual.bytes, expected, bound, nan_is_free, {}, 1);
  }
};

TEST(Compare, AcceptsErrorsWithinFourBoundsAndNoMore) {
  EXPECT_EQ(Case({1.0F + 3e-3F}, {1.0}, 1e-3).stats().wrong, 0);
  EXPECT_EQ(Case({1.0F + 5e-3F}, {1.0}, 1e-3).stats().wrong, 1);
}

TEST(Compare, RefusesNanWhereANumberIsExpectedHoweverLooseTheBound) {
  const CompareStats stats = Case({static_cast<float>(kNan), 1.0F}, {1.0, 1.0}, 1e6).stats();
  EXPECT_EQ(stats.wrong, 1);
  EXPECT_EQ(stats.worst, 0);
  EXPECT_EQ(stats.worst_ratio, kInf);
}

TEST(Compare, WantsNanWhereNanIsExpectedUnlessItIsFree) {
  const Case c({1.0F}, {kNan}, 0);
  EXPECT_EQ(c.stats().wrong, 1);
  EXPECT_EQ(c.stats(true).wrong, 0);
  EXPECT_EQ(c.stats(true).compared, 0);
}

TEST(Compare, WantsInfinityOfTheRightSign) {
  EXPECT_EQ(Case({std::numeric_limits<float>::infinity()}, {kInf}, 0).stats().wrong, 0);
  EXPECT_EQ(Case({-std::numeric_limits<float>::infinity()}, {kInf}, 0).stats().wrong, 1);
  EXPECT_EQ(Case({3e38F}, {kInf}, 0).stats().wrong, 1);
}

TEST(Compare, WantsNoNumberWhereAnInfinityMayBeOfEitherSignOrNan) {
  constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
  for (const float right : {kFloatInfinity, -kFloatInfinity, static_cast<float>(kNan)}) {
    const CompareStats stats = Case({right}, {kInf}, 0x1.0p127).stats();
    EXPECT_EQ(stats.wrong, 0) << right;
    EXPECT_EQ(stats.compared, 1) << right;
  }
  EXPECT_EQ(Case({3e38F}, {kInf}, 0x1.0p127).stats().wrong, 1);
  EXPECT_EQ(Case({static_cast<float>(kNan)}, {kInf}, 1e10).stats().wrong, 1);
}

TEST(Compare, TakesOverflowOfTheStorageTypeAsInfinity) {
  EXPECT_EQ(Case({std::numeric_limits<float>::infinity()}, {1e40}, 1e30).stats().wrong, 0);
  EXPECT_EQ(Case({0.0F}, {1e40}, 1e30).stats().wrong, 1);
}

TEST(Compare, SkipsElementsWhoseBoundIsInfinite) {
  const CompareStats stats = Case({5.0F}, {1.0}, kInf).stats();
  EXPECT_EQ(stats.wrong, 0);
  EXPECT_EQ(stats.compared, 0);
}

TEST(Compare, AnExactBoundMeansEqual) {
  EXPECT_EQ(Case({2.0F}, {2.0}, 0).stats().wrong, 0);
  EXPECT_EQ(Case({std::nextafter(2.0F, 3.0F)}, {2.0}, 0).stats().wrong, 1);
}

TEST(Compare, CountsAndLocatesAcrossBlocksAndThreads) {
  std::vector<float> a(10000, 1.0F);
  std::vector<double> e(10000, 1.0);
  a[4097] = 2.0F;
  a[9999] = 9.0F;
  const Case c(a, e, 1e-6);
  const CompareStats stats = compare(DType::f32, c.actual.bytes, c.expected, c.bound, false, {}, 2);
  EXPECT_EQ(stats.wrong, 2);
  EXPECT_EQ(stats.worst, 9999);
  EXPECT_EQ(stats.total, 10000);
}

TEST(Compare, IntegersAreExactAndBoolsAreZeroOrOne) {
  ir::HostTensor expected = ir::make_tensor(DType::i64, {2}), bound = ir::make_tensor(DType::f64, {2});
  expected.as<std::int64_t>()[1] = (std::int64_t{1} << 60) + 1;
  ir::HostTensor actual = expected;
  EXPECT_EQ(compare(DType::i64, actual.bytes, expected, bound, false).wrong, 0);
  actual.as<std::int64_t>()[1] -= 1;  // differs only beyond double precision
  EXPECT_EQ(compare(DType::i64, actual.bytes, expected, bound, false).wrong, 1);

  ir::HostTensor flag = ir::make_tensor(DType::boolean, {2});
  flag.bytes[0] = std::byte{255};
  EXPECT_EQ(compare(DType::boolean, flag.bytes, ir::make_tensor(DType::boolean, {2}), bound, false).wrong, 1);
}

TEST(WrongBox, EnclosesExactlyTheWrongElements) {
  ir::HostTensor actual = ir::make_tensor(DType::f32, {4, 5});
  const ir::HostTensor expected = ir::make_tensor(DType::f64, {4, 5}), bound = ir::make_tensor(DType::f64, {4, 5});
  actual.as<float>()[1 * 5 + 3] = 1;
  actual.as<float>()[2 * 5 + 1] = 1;
  const WrongBox box = wrong_box(DType::f32, actual.bytes, expected, bound, false);
  EXPECT_EQ(box.low, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(box.high, (std::vector<std::int64_t>{2, 3}));
}

}  // namespace
}  // namespace kerf::oracle
