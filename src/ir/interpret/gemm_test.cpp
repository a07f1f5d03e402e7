#include "ir/interpret/gemm.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "base/rng.hpp"

namespace kerf::ir {
namespace {

using Offsets = std::vector<std::int64_t>;

Offsets steps(std::int64_t count, std::int64_t stride) {
  Offsets offsets;
  for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
  return offsets;
}

class Gemm : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(Gemm, MultipliesAnyExtentsInEveryLayout) {
  const auto [m, n, k] = GetParam();
  Rng rng(static_cast<std::uint64_t>(m * 10007 + n * 101 + k));
  std::vector<double> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  for (auto& x : a) x = static_cast<double>(rng.integer(-8, 8));  // exact in any order
  for (auto& x : b) x = static_cast<double>(rng.integer(-8, 8));
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true}) {
      std::vector<double> c(static_cast<std::size_t>(m * n), -1);
      const Offsets a_rows = steps(m, a_transposed ? 1 : k), a_cols = steps(k, a_transposed ? m : 1);
      const Offsets b_rows = steps(k, b_transposed ? 1 : n), b_cols = steps(n, b_transposed ? k : 1);
      const Offsets c_rows = steps(m, 1), c_cols = steps(n, m);  // the result transposed
      const GemmBatch one[1] = {};
      gemm({a.data(), DType::f64, a_rows, a_cols}, {b.data(), DType::f64, b_rows, b_cols},
           GemmResult<double>{c.data(), c_rows, c_cols}, one, 2);
      for (std::size_t i = 0; i < a_rows.size(); ++i)
        for (std::size_t j = 0; j < b_cols.size(); ++j) {
          double expected = 0;
          for (std::size_t l = 0; l < a_cols.size(); ++l)
            expected +=
                a[static_cast<std::size_t>(a_rows[i] + a_cols[l])] * b[static_cast<std::size_t>(b_rows[l] + b_cols[j])];
          ASSERT_EQ(c[static_cast<std::size_t>(c_rows[i] + c_cols[j])], expected) << i << ", " << j;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Extents, Gemm,
                         testing::Values(std::tuple{1, 1, 1}, std::tuple{1, 1, 0}, std::tuple{0, 3, 2},
                                         std::tuple{7, 23, 5}, std::tuple{8, 24, 192}, std::tuple{9, 25, 193},
                                         std::tuple{200, 13, 400}, std::tuple{3, 1000, 20}, std::tuple{400, 100, 3},
                                         std::tuple{129, 131, 385}));

TEST(Gemm, IntegersWrapAndNarrowTypesAreReadAsTheyAre) {
  const std::vector<std::int32_t> a{1, -2, 3, 4};
  const std::vector<std::uint8_t> flags{1, 0, 7, 1};  // any non-zero byte is true
  const std::vector<std::int64_t> huge{INT64_MAX, 1, 1, 1};
  const Offsets two = steps(2, 2), one = steps(2, 1);
  const GemmBatch once[1] = {};
  std::vector<std::int64_t> c(4);
  gemm({a.data(), DType::i32, two, one}, {flags.data(), DType::boolean, two, one},
       GemmResult<std::int64_t>{c.data(), two, one}, once, 1);
  EXPECT_EQ(c, (std::vector<std::int64_t>{-1, -2, 7, 4}));
  gemm({huge.data(), DType::i64, two, one}, {huge.data(), DType::i64, two, one},
       GemmResult<std::int64_t>{c.data(), two, one}, once, 1);
  EXPECT_EQ(c[0], 2);  // (2^63 - 1)^2 + 1 = 2 modulo 2^64
}

TEST(Gemm, EachEntryOfABatchHasItsOwnPlace) {
  const std::vector<float> a{1, 2, 3, 4}, b{5, 6};
  std::vector<double> c(4);
  const Offsets single{0};
  const GemmBatch batch[] = {{0, 0, 3}, {1, 1, 2}, {2, 0, 1}, {3, 1, 0}};
  gemm({a.data(), DType::f32, single, single}, {b.data(), DType::f32, single, single},
       GemmResult<double>{c.data(), single, single}, batch, 1);
  EXPECT_EQ(c, (std::vector<double>{24, 15, 12, 5}));
}

}  // namespace
}  // namespace kerf::ir
