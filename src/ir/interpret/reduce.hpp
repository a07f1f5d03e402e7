#pragma once
// The bodies of the reductions of interpreter_kernels.hpp; inlined into one function per instruction set.

#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/interpret/loops.hpp"

namespace kerf::ir::eval {

/// s + lost is the exact sum of s, x and the former lost (up to one rounding of lost).
KERF_EVAL_INLINE void compensated_add(double& s, double& lost, double x) {
  const double sum = s + x;
  const double part = sum - s;
  lost += (s - (sum - part)) + (x - part);
  s = sum;
}

// One associative fold per operator: what it starts from and how it takes in a value.
template <class T>
struct FoldSum {
  static constexpr T start = 0;
  static KERF_EVAL_INLINE T fold(T a, T x) { return a + x; }
};
template <class T>
struct FoldProduct {
  static constexpr T start = 1;
  static KERF_EVAL_INLINE T fold(T a, T x) { return a * x; }
};
/// NaN, once seen, stays.
template <class T>
struct FoldMax {
  static constexpr T start =
      std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static KERF_EVAL_INLINE T fold(T a, T x) { return ((x > a) | (x != x)) ? x : a; }
};
template <class T>
struct FoldMin {
  static constexpr T start =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static KERF_EVAL_INLINE T fold(T a, T x) { return ((x < a) | (x != x)) ? x : a; }
};
struct FoldAny {
  static constexpr Int start = 0;
  static KERF_EVAL_INLINE Int fold(Int a, Int x) { return a | (x != 0 ? 1 : 0); }
};
struct FoldAll {
  static constexpr Int start = 1;
  static KERF_EVAL_INLINE Int fold(Int a, Int x) { return a & (x != 0 ? 1 : 0); }
};

/// All of x[0, n) in a fixed order: sixteen interleaved partial results, then pairs. No result depends on the vector
/// width, and a sum of a block loses at most a few units in the last place.
template <class Fold, class T>
KERF_EVAL_INLINE T fold_run(const T* x, Int n) {
  constexpr int kLanes = 16;
  if (n < kLanes) {
    T result = Fold::start;
    for (Int i = 0; i < n; ++i) result = Fold::fold(result, x[i]);
    return result;
  }
  T lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = x[l];
  Int i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] = Fold::fold(lanes[l], x[i + l]);
  for (int l = 0; i + l < n; ++l) lanes[l] = Fold::fold(lanes[l], x[i + l]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] = Fold::fold(lanes[l], lanes[l + half]);
  return lanes[0];
}

template <class Fold, class T>
KERF_EVAL_INLINE void fold_rows(const void* data, Int rows, Int width, void* first) {
  const T* x = static_cast<const T*>(data);
  T* result = static_cast<T*>(first);
  if (width == 1) {
    result[0] = Fold::fold(result[0], fold_run<Fold>(x, rows));
    return;
  }
  for (Int r = 0; r < rows; ++r, x += width) {
    KERF_EVAL_LANES
    for (Int j = 0; j < width; ++j) result[j] = Fold::fold(result[j], x[j]);
  }
}

KERF_EVAL_INLINE void sum_rows(const void* data, Int rows, Int width, void* first, void* second) {
  const double* x = static_cast<const double*>(data);
  double* sum = static_cast<double*>(first);
  double* lost = static_cast<double*>(second);
  if (width == 1) return compensated_add(*sum, *lost, fold_run<FoldSum<double>>(x, rows));
  for (Int r = 0; r < rows; ++r, x += width) {
    KERF_EVAL_LANES
    for (Int j = 0; j < width; ++j) compensated_add(sum[j], lost[j], x[j]);
  }
}

template <class T, bool kMax>
KERF_EVAL_INLINE bool beats(T x, T best) {
  return (kMax ? x > best : x < best) || (x != x && best == best);
}

template <class T, bool kMax>
KERF_EVAL_INLINE void arg_rows(const void* data, Int rows, Int width, Int row, void* first, void* second) {
  const T* x = static_cast<const T*>(data);
  T* best = static_cast<T*>(first);
  Int* index = static_cast<Int*>(second);
  for (Int r = 0; r < rows; ++r, x += width)
    for (Int j = 0; j < width; ++j)
      if (index[j] < 0 || beats<T, kMax>(x[j], best[j])) {
        best[j] = x[j];
        index[j] = row + r;
      }
}

template <class T>
KERF_EVAL_INLINE void accumulate_typed(ReduceOp op, const void* data, Int rows, Int width, Int row, void* first,
                                       void* second) {
  switch (op) {
    case ReduceOp::sum: return fold_rows<FoldSum<T>, T>(data, rows, width, first);
    case ReduceOp::prod: return fold_rows<FoldProduct<T>, T>(data, rows, width, first);
    case ReduceOp::max: return fold_rows<FoldMax<T>, T>(data, rows, width, first);
    case ReduceOp::min: return fold_rows<FoldMin<T>, T>(data, rows, width, first);
    case ReduceOp::argmax: return arg_rows<T, true>(data, rows, width, row, first, second);
    case ReduceOp::argmin: return arg_rows<T, false>(data, rows, width, row, first, second);
    case ReduceOp::any:
    case ReduceOp::all: return;
  }
}

KERF_EVAL_INLINE void accumulate_body(ReduceOp op, bool floating, const void* data, Int rows, Int width, Int row,
                                      void* first, void* second) {
  if (op == ReduceOp::any) return fold_rows<FoldAny, Int>(data, rows, width, first);
  if (op == ReduceOp::all) return fold_rows<FoldAll, Int>(data, rows, width, first);
  if (!floating && (op == ReduceOp::sum || op == ReduceOp::prod))
    return accumulate_typed<Word>(op, data, rows, width, row, first, second);
  if (!floating) return accumulate_typed<Int>(op, data, rows, width, row, first, second);
  if (op == ReduceOp::sum) return sum_rows(data, rows, width, first, second);
  accumulate_typed<double>(op, data, rows, width, row, first, second);
}

}  // namespace kerf::ir::eval
