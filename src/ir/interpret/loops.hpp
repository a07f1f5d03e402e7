#pragma once
// The bodies of interpreter_kernels.hpp's elementwise loops; inlined into one function per instruction set.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ir/interpret/kernels.hpp"
#include "ir/interpret/math.hpp"

// Lanes depend on nothing but the lanes of the same index, also when a result replaces its operand.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // a loop that calls pow stays scalar, which is fine
#define KERF_EVAL_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define KERF_EVAL_LANES _Pragma("GCC ivdep")
#endif

namespace kerf::ir::eval {

using Int = std::int64_t;
using Word = std::uint64_t;  // integer arithmetic wraps instead of overflowing

#define KERF_EVAL_FN [&](auto x) __attribute__((always_inline))
#define KERF_EVAL_FN2 [&](auto x, auto y) __attribute__((always_inline))

template <class In, class Out, class F>
KERF_EVAL_INLINE void unary(Int n, const void* a, void* out, F f) {
  const In* in = static_cast<const In*>(a);
  Out* result = static_cast<Out*>(out);
  KERF_EVAL_LANES
  for (Int i = 0; i < n; ++i) result[i] = static_cast<Out>(f(in[i]));
}

template <class In, class Out, class F>
KERF_EVAL_INLINE void binary(Int n, const void* a, const void* b, void* out, F f) {
  const In* left = static_cast<const In*>(a);
  const In* right = static_cast<const In*>(b);
  Out* result = static_cast<Out*>(out);
  KERF_EVAL_LANES
  for (Int i = 0; i < n; ++i) result[i] = static_cast<Out>(f(left[i], right[i]));
}

template <class T>
KERF_EVAL_INLINE void select(Int n, const void* condition, const void* a, const void* b, void* out) {
  const Int* chosen = static_cast<const Int*>(condition);
  const T* yes = static_cast<const T*>(a);
  const T* no = static_cast<const T*>(b);
  T* result = static_cast<T*>(out);
  KERF_EVAL_LANES
  for (Int i = 0; i < n; ++i) {
    const T x = yes[i], y = no[i];  // both are read, so that the choice is a blend
    result[i] = chosen[i] != 0 ? x : y;
  }
}

KERF_EVAL_INLINE double python_remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

/// The floor of the exact quotient, as Python has it: a / b rounded first could reach the next integer.
KERF_EVAL_INLINE double python_floor_div(double a, double b) {
  if (b == 0.0) return a / b;
  const double r = std::fmod(a, b);
  const double quotient = (a - r) / b - (r != 0.0 && (r < 0.0) != (b < 0.0) ? 1.0 : 0.0);
  return quotient == 0.0 ? std::copysign(0.0, a / b) : std::nearbyint(quotient);
}

KERF_EVAL_INLINE Int int_remainder(Int a, Int b) {
  if (b == 0 || b == -1) return 0;
  const Int r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

KERF_EVAL_INLINE Int int_floor_div(Int a, Int b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<Int>(Word{0} - static_cast<Word>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

KERF_EVAL_INLINE Int int_div(Int a, Int b) {
  if (b == 0) return 0;
  return b == -1 ? static_cast<Int>(Word{0} - static_cast<Word>(a)) : a / b;
}

KERF_EVAL_INLINE Int int_pow(Int base, Int exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Word result = 1, power = static_cast<Word>(base);
  for (Int e = exponent; e > 0; e >>= 1, power *= power)
    if ((e & 1) != 0) result *= power;
  return static_cast<Int>(result);
}

/// x^y; a constant exponent of 2 or 3 is a product.
KERF_EVAL_INLINE void power(Int n, const void* a, const void* b, void* out) {
  const double* exponent = static_cast<const double*>(b);
  Int differing = 0;
  for (Int i = 0; i < n; ++i) differing += exponent[i] != exponent[0] ? 1 : 0;
  if (n > 0 && differing == 0 && exponent[0] == 2.0)
    return unary<double, double>(n, a, out, KERF_EVAL_FN { return x * x; });
  if (n > 0 && differing == 0 && exponent[0] == 3.0)
    return unary<double, double>(n, a, out, KERF_EVAL_FN { return x * x * x; });
  binary<double, double>(n, a, b, out, KERF_EVAL_FN2 { return std::pow(x, y); });
}

/// One operator on lanes of `In`: `f` takes both arguments, of which operators of one argument ignore the second.
template <class In, int arity, bool gives_bool, class F>
KERF_EVAL_INLINE void map_lanes(Int n, const void* a, const void* b, void* out, F f) {
  using Out = std::conditional_t<gives_bool, Int, In>;
  if constexpr (arity == 1)
    unary<In, Out>(n, a, out, [&](auto x) __attribute__((always_inline)) { return f(x, x); });
  else
    binary<In, Out>(n, a, b, out, f);
}

#define KERF_EVAL_LAMBDA(type, value) \
  [&]([[maybe_unused]] type x, [[maybe_unused]] type y) __attribute__((always_inline)) { return value; }
#define FACTS(...) \
  MapOpFacts { __VA_ARGS__ }
#define LANES(...) (__VA_ARGS__)
#define INTEGER(...) (__VA_ARGS__)

KERF_EVAL_INLINE void map_float(MapOp op, Int n, const void* a, const void* b, void* out) {
  switch (op) {
#define KERF_MAP_OP(name, facts, real, lanes, integer, bound)                   \
  case MapOp::name: {                                                           \
    constexpr MapOpFacts kFacts = facts;                                        \
    return map_lanes < double, kFacts.arity == 1 ? 1 : 2,                       \
           kFacts.gives_bool > (n, a, b, out, KERF_EVAL_LAMBDA(double, lanes)); \
  }
#include "ir/map_ops.def"
#undef KERF_MAP_OP
  }
}

KERF_EVAL_INLINE void map_int(MapOp op, Int n, const void* a, const void* b, void* out) {
  switch (op) {
#define KERF_MAP_OP(name, facts, real, lanes, integer, bound)                  \
  case MapOp::name: {                                                          \
    constexpr MapOpFacts kFacts = facts;                                       \
    return map_lanes < Int, kFacts.arity == 1 ? 1 : 2,                         \
           kFacts.gives_bool > (n, a, b, out, KERF_EVAL_LAMBDA(Int, integer)); \
  }
#include "ir/map_ops.def"
#undef KERF_MAP_OP
  }
}

#undef INTEGER
#undef LANES
#undef FACTS
#undef KERF_EVAL_LAMBDA

KERF_EVAL_INLINE void map_body(MapOp op, bool floating, Int n, const void* a, const void* b, const void* c, void* out) {
  if (op == MapOp::select) return floating ? select<double>(n, a, b, c, out) : select<Int>(n, a, b, c, out);
  if (!floating) return map_int(op, n, a, b, out);
  return op == MapOp::pow ? power(n, a, b, out) : map_float(op, n, a, b, out);
}

/// Saturates; NaN gives 0.
KERF_EVAL_INLINE Int to_int(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return std::numeric_limits<Int>::max();
  return x < -0x1p63 ? std::numeric_limits<Int>::min() : static_cast<Int>(x);
}

KERF_EVAL_INLINE void convert_body(Conversion conversion, Int n, const void* in, void* out) {
  using D = double;
  switch (conversion) {
    case Conversion::none: return unary<Int, Int>(n, in, out, KERF_EVAL_FN { return x; });
    case Conversion::float_to_int: return unary<D, Int>(n, in, out, KERF_EVAL_FN { return to_int(x); });
    case Conversion::float_to_i32:
      return unary<D, Int>(n, in, out, KERF_EVAL_FN { return std::clamp<Int>(to_int(x), INT32_MIN, INT32_MAX); });
    case Conversion::float_to_bool: return unary<D, Int>(n, in, out, KERF_EVAL_FN { return x != 0 ? Int{1} : Int{0}; });
    case Conversion::int_to_float: return unary<Int, D>(n, in, out, KERF_EVAL_FN { return static_cast<D>(x); });
    case Conversion::int_to_i32:
      return unary<Int, Int>(n, in, out, KERF_EVAL_FN { return static_cast<std::int32_t>(x); });
    case Conversion::int_to_bool: return unary<Int, Int>(n, in, out, KERF_EVAL_FN { return x != 0 ? 1 : 0; });
  }
}

}  // namespace kerf::ir::eval
