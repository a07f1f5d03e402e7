#pragma once
// Element-by-element comparison of an output with its expected value and error bound.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor.hpp"

namespace kerf::oracle {

/// Where nothing is known about honest errors an element passes when |actual - expected| <= kBoundFactor * bound +
/// tiny. NaN and infinities agree and integers are equal in any case.
inline constexpr double kBoundFactor = 4;

/// An element whose expected value is infinite and whose bound is at least this may be either infinity or NaN
/// (ir::kNotFinite); with a smaller bound it is that infinity.
inline constexpr double kEitherInfinity = 0x1.0p64;

/// Large errors are counted by size, in powers of two.
inline constexpr int kOctaves = 24;

/// Errors of one region belong together: this many consecutive elements are one. A tile, a block of columns and a row
/// that are wrong cover many whole ones.
inline constexpr std::int64_t kRun = 32;

/// How errors of one output are weighed, in units of the element's bound.
struct Allowance {
  double most = kBoundFactor;  ///< an element is wrong beyond this
  double unit = 1;             ///< octave k counts the errors in [2^k, 2^(k+1)) units; smaller ones are not counted
  double roundings = 0;        ///< an error of so many roundings of the output's type (at the element's magnitude) or
                               ///< fewer counts as none, unless it is beyond kBoundFactor bounds
};

struct CompareStats {
  std::int64_t total = 0;
  std::int64_t compared = 0;  ///< total less the ambiguous elements (bound +inf) and free NaNs
  std::int64_t wrong = 0;
  std::int64_t worst = -1;  ///< flat index of the element with the largest error over tolerance; -1: none compared
  double worst_ratio = 0;   ///< its |error| / tolerance; +inf for a NaN or infinity mismatch
  double worst_expected = 0, worst_actual = 0, worst_bound = 0;  ///< of that element, for evidence
  double sum_squares = 0;                        ///< of |error| / bound over compared finite elements with bound > 0
  std::int64_t squares_count = 0;                ///< how many elements entered sum_squares
  double largest = 0;                            ///< |error| / bound of the worst of these
  double worst_run = 0;                          ///< the part of sum_squares that one run of kRun elements has, at most
  std::array<std::int64_t, kOctaves> octaves{};  ///< how many of these by size (Allowance::unit); the last is open
};

/// Compares storage of `dtype` (the output's) with expected (f64 / i64 / bool) and bound (f64). `nan_is_free`: elements
/// whose expected value is NaN are skipped. Thread-safe; uses up to `threads` threads (0: all).
CompareStats compare(DType dtype, std::span<const std::byte> actual, const ir::HostTensor& expected,
                     const ir::HostTensor& bound, bool nan_is_free, const Allowance& allowance = {}, int threads = 0);

/// Bounding box of the elements that fail the same test (slow path, for evidence).
struct WrongBox {
  std::vector<std::int64_t> low, high;  ///< empty when nothing is wrong
};
WrongBox wrong_box(DType dtype, std::span<const std::byte> actual, const ir::HostTensor& expected,
                   const ir::HostTensor& bound, bool nan_is_free, const Allowance& allowance = {});

/// Tolerance of one element, for evidence.
double tolerance(double bound, double most = kBoundFactor);

/// Errors of a value y up to max(relative * |y|, absolute) count as none (Allowance::roundings); the second is what a
/// device that flushes denormals loses.
struct Negligible {
  double relative = 0, absolute = 0;
};
Negligible negligible(DType dtype, const Allowance& allowance);

/// Half the distance of neighbouring numbers of a float type, relative to them.
double rounding_unit(DType dtype);

}  // namespace kerf::oracle
