#include "oracle/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/parallel.hpp"

namespace kerf::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Largest finite value of a float storage type: beyond it, infinity is the right answer.
double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::f32: return std::numeric_limits<float>::max();
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.FEp127;
    default: return std::numeric_limits<double>::max();
  }
}

double smallest_normal(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::bf16: return 0x1.0p-126;
    case DType::f16: return 0x1.0p-24;  // denormals are kept: one step of them
    default: return std::numeric_limits<double>::min();
  }
}

/// Error of one float element over its tolerance: <= 1 passes, +inf is a NaN or infinity mismatch.
struct Judged {
  bool compared = true;
  double ratio = 0;        // |error| / tolerance
  double normalised = -1;  // |error| / bound; -1 where the bound is zero or the values are not finite
};

/// What is the same for every element of an output.
struct Rule {
  Allowance allowance;
  double largest = 0;  // finite value of the storage type
  Negligible floor;    // errors that count as none
  bool nan_is_free = false;

  Rule(DType dtype, const Allowance& allowed, bool free_nan)
      : allowance(allowed), largest(largest_finite(dtype)), floor(negligible(dtype, allowed)), nan_is_free(free_nan) {}
};

Judged judge_float(double actual, double expected, double bound, const Rule& rule) {
  const double largest = rule.largest;
  const bool nan_is_free = rule.nan_is_free;
  if (bound == kInfinity) return {false, 0, -1};
  if (std::isnan(expected)) {
    if (nan_is_free) return {false, 0, -1};
    return {true, std::isnan(actual) ? 0 : kInfinity, -1};
  }
  if (std::isinf(expected) && bound >= kEitherInfinity) return {true, std::isfinite(actual) ? kInfinity : 0, -1};
  if (std::isnan(actual)) return {true, kInfinity, -1};
  const double allowed = tolerance(std::isnan(bound) ? 0 : bound, rule.allowance.most);
  if (std::fabs(expected) > largest) {  // overflows the storage type; its largest value may still be within tolerance
    if (std::isinf(actual) && std::signbit(actual) == std::signbit(expected)) return {true, 0, -1};
    if (std::isinf(expected)) return {true, kInfinity, -1};
  }
  if (std::isinf(actual)) {
    const bool may_overflow = std::signbit(actual) == std::signbit(expected) && std::fabs(expected) + allowed > largest;
    return {true, may_overflow ? 0 : kInfinity, -1};
  }
  const double error = std::fabs(actual - expected);
  const bool negligible = error <= std::max(rule.floor.relative * std::fabs(expected), rule.floor.absolute) &&
                          error <= kBoundFactor * bound;
  if (error == 0 || negligible) return {true, 0, bound > 0 ? 0.0 : -1.0};
  return {true, error / allowed, bound > 0 ? error / bound : -1};
}

Judged judge_integer(std::int64_t actual, std::int64_t expected, double bound) {
  if (bound == kInfinity) return {false, 0, -1};
  return {true, actual == expected ? 0 : kInfinity, -1};
}

std::int64_t load_integer(DType dtype, const std::byte* data, std::int64_t i) {
  if (dtype == DType::i64) {
    std::int64_t value;
    std::memcpy(&value, data + i * 8, 8);
    return value;
  }
  if (dtype == DType::i32) {
    std::int32_t value;
    std::memcpy(&value, data + i * 4, 4);
    return value;
  }
  return static_cast<std::int64_t>(std::to_integer<unsigned char>(data[i]));
}

/// One element of any type. Bools must be exactly 0 or 1.
Judged judge(DType dtype, const std::byte* actual, const ir::HostTensor& expected, const ir::HostTensor& bound,
             const Rule& rule, std::int64_t i) {
  const double b = bound.as<double>()[i];
  if (is_float(dtype)) {
    const double value = load_element(dtype, actual, static_cast<std::size_t>(i));
    return judge_float(value, expected.as<double>()[i], b, rule);
  }
  return judge_integer(load_integer(dtype, actual, i), load_integer(expected.dtype, expected.bytes.data(), i), b);
}

void merge(CompareStats& into, const CompareStats& part) {
  into.compared += part.compared;
  into.wrong += part.wrong;
  into.sum_squares += part.sum_squares;
  into.squares_count += part.squares_count;
  into.largest = std::max(into.largest, part.largest);
  into.worst_run = std::max(into.worst_run, part.worst_run);
  for (std::size_t k = 0; k < kOctaves; ++k) into.octaves[k] += part.octaves[k];
  if (part.worst >= 0 && (into.worst < 0 || part.worst_ratio > into.worst_ratio ||
                          (part.worst_ratio == into.worst_ratio && part.worst < into.worst))) {
    into.worst = part.worst;
    into.worst_ratio = part.worst_ratio;
  }
}

/// The common case, f32 within finite range and without an error that is counted by size, without a branch the compiler
/// cannot vectorise.
bool f32_block_is_plainly_right(const float* actual, const double* expected, const double* bound, std::int64_t count,
                                const Rule& rule, CompareStats& stats) {
  double sum = 0, largest = 0, worst_run = 0;
  std::int64_t outside = 0, positive = 0;
  const double most = std::min(rule.allowance.most, rule.allowance.unit);
  const Negligible floor = rule.floor;
  for (std::int64_t run = 0; run < count; run += kRun) {
    double run_sum = 0;
    for (std::int64_t i = run; i < std::min(run + kRun, count); ++i) {
      const double found = std::fabs(static_cast<double>(actual[i]) - expected[i]);
      const bool negligible = (found <= std::max(floor.relative * std::fabs(expected[i]), floor.absolute)) &
                              (found <= kBoundFactor * bound[i]);
      const double error = negligible ? 0 : found;
      const double allowed = most * bound[i] + (bound[i] > 0 ? 0 : 0x1.0p-140);
      // NaN anywhere, an infinite bound and every wrong element all land in `outside`.
      outside += ((error < allowed || error == 0) && bound[i] < 1e300) ? 0 : 1;
      const double r = bound[i] > 0 ? error / bound[i] : 0;
      largest = r > largest ? r : largest;
      run_sum += r * r;
      positive += bound[i] > 0 ? 1 : 0;
    }
    sum += run_sum;
    worst_run = run_sum > worst_run ? run_sum : worst_run;
  }
  if (outside != 0) return false;
  stats.sum_squares += sum;
  stats.squares_count += positive;
  stats.largest = std::max(stats.largest, largest);
  stats.worst_run = std::max(stats.worst_run, worst_run);
  return true;
}

/// Octave of an error of `units` units; below 1 there is none.
int octave_of(double units) { return std::min(std::ilogb(units), kOctaves - 1); }

/// What the element adds to sum_squares.
double add(CompareStats& stats, const Judged& judged, std::int64_t at, const Rule& rule) {
  if (!judged.compared) return 0;
  ++stats.compared;
  if (judged.ratio > 1) ++stats.wrong;
  if (stats.worst < 0 || judged.ratio > stats.worst_ratio) {
    stats.worst = at;
    stats.worst_ratio = judged.ratio;
  }
  if (judged.normalised < 0) return 0;
  const double square = judged.normalised * judged.normalised;
  stats.sum_squares += square;
  ++stats.squares_count;
  stats.largest = std::max(stats.largest, judged.normalised);
  const double units = judged.normalised / rule.allowance.unit;
  if (units >= 1) ++stats.octaves[static_cast<std::size_t>(octave_of(units))];
  return square;
}

}  // namespace

double tolerance(double bound, double most) { return most * bound + 0x1.0p-140; }

double rounding_unit(DType dtype) {
  switch (dtype) {
    case DType::f32: return 0x1.0p-24;
    case DType::f16: return 0x1.0p-11;
    case DType::bf16: return 0x1.0p-8;
    default: return 0x1.0p-53;
  }
}

Negligible negligible(DType dtype, const Allowance& allowance) {
  if (!is_float(dtype) || allowance.roundings <= 0) return {};
  return {allowance.roundings * rounding_unit(dtype), smallest_normal(dtype)};
}

CompareStats compare(DType dtype, std::span<const std::byte> actual, const ir::HostTensor& expected,
                     const ir::HostTensor& bound, bool nan_is_free, const Allowance& allowance, int threads) {
  CompareStats total;
  total.total = expected.elements();
  const Rule rule(dtype, allowance, nan_is_free);
  constexpr std::int64_t kBlock = 2048;
  static_assert(kBlock % kRun == 0);
  const std::int64_t blocks = (total.total + kBlock - 1) / kBlock;
  std::mutex mutex;
  parallel_for(blocks, 64, threads, [&](std::int64_t first, std::int64_t last) {
    CompareStats part;
    for (std::int64_t block = first; block < last; ++block) {
      const std::int64_t begin = block * kBlock, end = std::min(begin + kBlock, total.total);
      if (dtype == DType::f32 && f32_block_is_plainly_right(reinterpret_cast<const float*>(actual.data()) + begin,
                                                            expected.as<double>() + begin, bound.as<double>() + begin,
                                                            end - begin, rule, part)) {
        part.compared += end - begin;
        if (part.worst < 0) part.worst = begin;
        continue;
      }
      for (std::int64_t run = begin; run < end; run += kRun) {
        double run_sum = 0;
        for (std::int64_t i = run; i < std::min(run + kRun, end); ++i)
          run_sum += add(part, judge(dtype, actual.data(), expected, bound, rule, i), i, rule);
        part.worst_run = std::max(part.worst_run, run_sum);
      }
    }
    const std::lock_guard lock(mutex);
    merge(total, part);
  });
  if (total.worst >= 0) {
    const auto at = static_cast<std::size_t>(total.worst);
    total.worst_actual = load_element(dtype, actual.data(), at);
    total.worst_expected = load_element(expected.dtype, expected.bytes.data(), at);
    total.worst_bound = bound.as<double>()[at];
  }
  return total;
}

WrongBox wrong_box(DType dtype, std::span<const std::byte> actual, const ir::HostTensor& expected,
                   const ir::HostTensor& bound, bool nan_is_free, const Allowance& allowance) {
  WrongBox box;
  const Rule rule(dtype, allowance, nan_is_free);
  const auto rank = expected.shape.size();
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const Judged j = judge(dtype, actual.data(), expected, bound, rule, i);
    if (j.compared && j.ratio > 1) {
      if (box.low.empty() && rank > 0) box.low = box.high = index;
      for (std::size_t d = 0; d < rank; ++d) {
        box.low[d] = std::min(box.low[d], index[d]);
        box.high[d] = std::max(box.high[d], index[d]);
      }
    }
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < expected.shape[d]) break;
      index[d] = 0;
    }
  }
  return box;
}

}  // namespace kerf::oracle
