#pragma once
// Element-by-element comparison of an output with its expected value and error bound.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor.hpp"

namespace kerf::oracle {

/// An element passes when |actual - expected| <= kBoundFactor * bound + tiny, NaN and infinities agree, integers are
/// equal.
inline constexpr double kBoundFactor = 4;

struct CompareStats {
  std::int64_t total = 0;
  std::int64_t compared = 0;  ///< total less the ambiguous elements (bound +inf) and free NaNs
  std::int64_t wrong = 0;
  std::int64_t worst = -1;  ///< flat index of the element with the largest error over tolerance; -1: none compared
  double worst_ratio = 0;   ///< its |error| / tolerance; +inf for a NaN or infinity mismatch
  double worst_expected = 0, worst_actual = 0, worst_bound = 0;  ///< of that element, for evidence
  double sum_squares = 0;          ///< of |error| / bound over compared finite elements with bound > 0
  std::int64_t squares_count = 0;  ///< how many elements entered sum_squares
};

/// Compares storage of `dtype` (the output's) with expected (f64 / i64 / bool) and bound (f64). `nan_is_free`: elements
/// whose expected value is NaN are skipped. Thread-safe; uses up to `threads` threads (0: all).
CompareStats compare(DType dtype, std::span<const std::byte> actual, const ir::HostTensor& expected,
                     const ir::HostTensor& bound, bool nan_is_free, int threads = 0);

/// Bounding box of the elements that fail the same test (slow path, for evidence).
struct WrongBox {
  std::vector<std::int64_t> low, high;  ///< empty when nothing is wrong
};
WrongBox wrong_box(DType dtype, std::span<const std::byte> actual, const ir::HostTensor& expected,
                   const ir::HostTensor& bound, bool nan_is_free);

/// Tolerance of one element, for evidence.
double tolerance(double bound);

}  // namespace kerf::oracle
