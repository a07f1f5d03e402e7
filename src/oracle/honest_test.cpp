#include "oracle/honest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.hpp"

namespace kerf::oracle {
namespace {

/// Errors of many elements with one bound, as a plain implementation and as candidates have them.
class HonestTest : public testing::Test {
 protected:
  static constexpr double kBound = 1e-4;

  static double bell(Rng& rng) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += rng.uniform();
    return sum - 6;
  }
  static std::vector<double> errors(std::size_t count, double deviation, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> all(count);
    for (double& one : all) one = deviation * bell(rng);
    return all;
  }
  static CompareStats stats(const std::vector<double>& errors, const Allowance& allowance, double value = 0) {
    const auto n = static_cast<std::int64_t>(errors.size());
    ir::HostTensor actual = ir::make_tensor(DType::f64, {n}), expected = ir::make_tensor(DType::f64, {n}),
                   bound = ir::make_tensor(DType::f64, {n});
    for (std::int64_t i = 0; i < n; ++i) {
      expected.as<double>()[i] = value;
      actual.as<double>()[i] = value + errors[static_cast<std::size_t>(i)];
      bound.as<double>()[i] = kBound;
    }
    return compare(DType::f64, actual.bytes, expected, bound, false, allowance);
  }
  static HonestErrors honest(const std::vector<double>& errors) {
    Allowance allowance;
    if (const double unit = rms(stats(errors, {})); unit > 0) allowance.unit = unit;
    return honest_errors(stats(errors, allowance));
  }
  static bool refused(const std::vector<double>& errors, const HonestErrors& plain) {
    return less_accurate(stats(errors, allowance_of(plain)), plain).has_value();
  }
};

TEST_F(HonestTest, ErrorsAreHeldToThePlainOnesHoweverLooseTheBoundIs) {
  const HonestErrors plain = honest(errors(10000, 1e-9, 1));
  EXPECT_FALSE(refused(errors(10000, 1e-9, 2), plain));
  EXPECT_FALSE(refused(errors(10000, 6e-9, 3), plain));
  EXPECT_TRUE(refused(errors(10000, 1e-8, 4), plain)) << "ten times, far within the bound of 1e-4";
}

TEST_F(HonestTest, SharesOfTheLimitsSayHowFarARefusalIs) {
  const HonestErrors plain = honest(errors(10000, 1e-9, 1));
  const auto shares = [&](double deviation) {
    return limit_shares(stats(errors(10000, deviation, 2), allowance_of(plain)), plain);
  };
  EXPECT_NEAR(shares(1e-9).rms, 1 / kHonestFactor, 0.01);
  EXPECT_NEAR(shares(4e-9).rms, 4 / kHonestFactor, 0.04);
  EXPECT_LT(shares(4e-9).worst, 1);
  EXPECT_LT(shares(4e-9).counts, 1);
  EXPECT_GT(shares(2e-8).rms, 1);
  EXPECT_GT(shares(2e-8).worst, 1);
  EXPECT_GT(shares(2e-8).counts, 1);
  EXPECT_EQ(shares(0).rms, 0);
}

TEST_F(HonestTest, OneBadElementInManyShows) {
  const HonestErrors plain = honest(errors(100000, 1e-9, 1));
  auto one = errors(100000, 1e-9, 2);
  one[5000] = 60e-9;  // the worst plain error is a little above four deviations
  EXPECT_TRUE(refused(one, plain));
}

TEST_F(HonestTest, ARowOfElementsBetweenTheWorstAndTheOrdinaryShowsByItsNumber) {
  const HonestErrors plain = honest(errors(100000, 1e-9, 1));
  auto row = errors(100000, 1e-9, 2);
  for (std::size_t i = 0; i < 400; ++i) row[i] = 33e-9;  // plain ones beyond four deviations: about six
  EXPECT_FALSE(rms(stats(row, {})) > 8 * plain.rms);
  EXPECT_TRUE(refused(row, plain));
}

TEST_F(HonestTest, AFewNeighboursThatAreAllALittleOffShow) {
  const HonestErrors plain = honest(errors(100000, 1e-9, 1));
  auto tile = errors(100000, 1e-9, 2);
  for (std::size_t i = 5000; i < 5064; ++i) tile[i] = 20e-9;  // less than eight times the worst, and few
  const CompareStats found = stats(tile, allowance_of(plain));
  const LimitShares shares = limit_shares(found, plain);
  EXPECT_LT(std::max({shares.rms, shares.worst, shares.counts}), 1);
  EXPECT_GT(shares.run, 1);
  EXPECT_TRUE(refused(tile, plain));
  for (std::size_t i = 5000; i < 5064; ++i) tile[i] = i % 8 == 0 ? 20e-9 : 1e-9;  // scattered: honest errors have tails
  EXPECT_FALSE(refused(tile, plain));
}

TEST_F(HonestTest, HonestErrorsDrawnTwiceNeverRefuseEachOther) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const std::size_t count : {8U, 33U, 500U, 5000U})
      EXPECT_FALSE(refused(errors(count, 1e-9, 2 * seed), honest(errors(count, 1e-9, 2 * seed + 1))))
          << count << " elements, seed " << seed;
}

TEST_F(HonestTest, OneElementToGoByIsHardlyEvidence) {
  HonestErrors plain;
  plain.count = 1;
  plain.rms = plain.worst = 1e-5;
  EXPECT_FALSE(refused({1e-4 * kBound * 10}, plain));
  EXPECT_TRUE(refused({kBound}, plain));
}

TEST_F(HonestTest, WhereThePlainResultIsExactAFewRoundingsAreFree) {
  const HonestErrors plain = honest(std::vector<double>(5000, 0.0));
  const double unit = rounding_unit(DType::f64);
  const auto judged = [&](double error) {
    return less_accurate(stats(std::vector<double>(5000, error), allowance_of(plain), 1.0), plain).has_value();
  };
  EXPECT_FALSE(judged(4 * unit));
  EXPECT_TRUE(judged(6 * unit));
}

TEST_F(HonestTest, BeyondTheBoundThePlainImplementationDecides) {
  auto some = errors(5000, kBound / 10, 1);
  some[7] = 5 * kBound;  // beyond four bounds, and honest
  const HonestErrors plain = honest(some);
  const auto wrong = [&](double error) {
    auto candidate = errors(5000, kBound / 10, 2);
    candidate[99] = error;
    return stats(candidate, allowance_of(plain)).wrong;
  };
  EXPECT_EQ(wrong(6 * kBound), 0);
  EXPECT_EQ(wrong(21 * kBound), 1);
}

TEST_F(HonestTest, WhereOneErrorIsNearlyAllThereAreFewDecidingOnes) {
  EXPECT_GT(deciding(honest(errors(5000, 1e-9, 1))), 100);
  auto one = errors(5000, 1e-12, 1);
  one[17] = 1e-8;
  EXPECT_NEAR(deciding(honest(one)), 1, 0.1);
  EXPECT_EQ(deciding(honest(std::vector<double>(5000, 0.0))), 5000) << "an exact result is no matter of luck";
}

TEST_F(HonestTest, AnRmsOfOneOrTwoErrorsIsUncertain) {
  auto one = errors(5000, 1e-12, 1), two = errors(5000, 1e-12, 2);
  one[17] = 1e-8;                             // an ill-conditioned element, and a plain implementation ...
  for (const int at : {17, 900, 1800, 2700})  // ... that was lucky in others
    two[static_cast<std::size_t>(at)] = 6e-8;
  EXPECT_GT(rms(stats(two, {})), 10 * rms(stats(one, {})));
  EXPECT_LE(limit_shares(stats(two, allowance_of(honest(one))), honest(one)).rms, 1);
  EXPECT_TRUE(refused(errors(5000, 1e-8, 3), honest(one))) << "all elements as wrong as one was";
}

/// As scores that are nearly tied move a whole row of attention's output.
TEST_F(HonestTest, ARowWhoseElementsAreOffTogetherIsOneCause) {
  auto one = errors(8192, 1e-12, 1);
  for (std::size_t i = 4800; i < 4824; ++i) one[i] = 1e-8;  // the one ill-conditioned row of 24
  HonestErrors plain = honest(one);
  auto unlucky = errors(8192, 1e-12, 2);
  for (std::size_t i = 4800; i < 4824; ++i) unlucky[i] = 13e-8;
  EXPECT_GT(deciding(plain), kEnoughDeciding);
  EXPECT_TRUE(refused(unlucky, plain)) << "24 independent errors would be enough to go by";
  plain.together = 24;
  EXPECT_NEAR(deciding(plain), 1, 0.1);
  EXPECT_FALSE(refused(unlucky, plain));
  EXPECT_TRUE(refused(errors(8192, 1e-8, 3), plain)) << "all rows as wrong as one was";
  for (std::size_t i = 4800; i < 4824; ++i) unlucky[i] = 50e-8;
  EXPECT_TRUE(refused(unlucky, plain));
}

TEST_F(HonestTest, EvenErrorsDecideTogetherHoweverFewRowsTheyHave) {
  HonestErrors plain = honest(errors(8192, 1e-9, 1));
  plain.together = kRun;
  EXPECT_GT(deciding(plain), 100);
  EXPECT_TRUE(refused(errors(8192, 1e-8, 4), plain));
}

TEST_F(HonestTest, FewElementsOfSeveralDrawsCountTogether) {
  HonestErrors all = honest(errors(4, 1e-9, 1));
  for (std::uint64_t seed = 2; seed < 9; ++seed) merge(all, honest(errors(4, 1e-9, seed)));
  EXPECT_EQ(all.count, 32);
  EXPECT_NEAR(all.rms * kBound, 1e-9, 0.3e-9);
}

TEST_F(HonestTest, AnExactResultIsKnownNoBetterThanTheReferenceComputesIt) {
  HonestErrors exact = honest(std::vector<double>(5000, 0.0));
  const auto tiny = errors(5000, 1e-20 * kBound, 1);  // 1 + erf(x) far below 0, where erfc(-x) has all its digits
  EXPECT_TRUE(refused(tiny, exact));
  widen_to_resolution(exact, honest(errors(5000, 0.01 * kBound, 2)));
  EXPECT_FALSE(refused(tiny, exact));
  EXPECT_TRUE(refused(errors(5000, 1e-9 * kBound, 3), exact));
  HonestErrors other = honest(errors(5000, 1e-5 * kBound, 4));
  const double before = other.rms;
  widen_to_resolution(other, honest(errors(5000, 0.01 * kBound, 2)));
  EXPECT_EQ(other.rms, before) << "never where errors were seen";
}

TEST(Honest, RowsThatShareAnErrorAreHeldToAShareOfTheBound) {
  HonestErrors lucky{1 << 16, 0.001, 0.01, {}, true};
  CompareStats stats;
  stats.squares_count = 1 << 16;
  stats.largest = 0.7;
  stats.sum_squares = 0.09 * 0.09 * stats.squares_count;
  EXPECT_TRUE(less_accurate(stats, lucky));
  widen_for_rows(lucky);
  EXPECT_FALSE(less_accurate(stats, lucky));
  stats.sum_squares *= 100;
  EXPECT_TRUE(less_accurate(stats, lucky));
  HonestErrors wide{1 << 16, 0.3, 1.5, {}, false};
  widen_for_rows(wide);
  EXPECT_EQ(wide.rms, 0.3) << "never narrower";
}

}  // namespace
}  // namespace kerf::oracle
