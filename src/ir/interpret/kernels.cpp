#include "ir/interpret/kernels.hpp"

#include <bit>
#include <cstring>

#include "ir/interpret/loops.hpp"
#include "ir/interpret/reduce.hpp"

namespace kerf::ir::eval {
namespace {

KERF_EVAL_INLINE double from_f16(std::uint16_t bits) {
  // The f16 fields in f32's places are the value times 2^-112; infinities and NaN get f32's exponent instead.
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t fields = static_cast<std::uint32_t>(bits & 0x7fffU) << 13;
  const float finite = std::bit_cast<float>(fields) * 0x1p112F;
  const std::uint32_t magnitude = fields >= 0x0f800000U ? fields | 0x7f800000U : std::bit_cast<std::uint32_t>(finite);
  return static_cast<double>(std::bit_cast<float>(magnitude | sign));
}
KERF_EVAL_INLINE double from_bf16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

template <class In, class Out, class F>
KERF_EVAL_INLINE void load_typed(const void* source, Int offset, Int stride, Int n, void* out, F f) {
  const In* in = static_cast<const In*>(source) + offset;
  Out* result = static_cast<Out*>(out);
  if (stride == 0) {
    const Out value = f(in[0]);
    for (Int i = 0; i < n; ++i) result[i] = value;
  } else if (stride == 1) {
    KERF_EVAL_LANES
    for (Int i = 0; i < n; ++i) result[i] = f(in[i]);
  } else {
    for (Int i = 0; i < n; ++i) result[i] = f(in[i * stride]);
  }
}

KERF_EVAL_INLINE void load_body(DType dtype, const void* source, Int offset, Int stride, Int n, void* out) {
  using D = double;
  using U = std::uint16_t;
  if (n <= 0) return;
  switch (dtype) {
    case DType::f64: return load_typed<D, D>(source, offset, stride, n, out, KERF_EVAL_FN { return x; });
    case DType::f32:
      return load_typed<float, D>(source, offset, stride, n, out, KERF_EVAL_FN { return static_cast<D>(x); });
    case DType::f16: return load_typed<U, D>(source, offset, stride, n, out, KERF_EVAL_FN { return from_f16(x); });
    case DType::bf16: return load_typed<U, D>(source, offset, stride, n, out, KERF_EVAL_FN { return from_bf16(x); });
    case DType::i64: return load_typed<Int, Int>(source, offset, stride, n, out, KERF_EVAL_FN { return x; });
    case DType::i32:
      return load_typed<std::int32_t, Int>(
          source, offset, stride, n, out, KERF_EVAL_FN { return static_cast<Int>(x); });
    case DType::boolean:
      return load_typed<std::uint8_t, Int>(
          source, offset, stride, n, out, KERF_EVAL_FN { return x != 0 ? Int{1} : Int{0}; });
  }
}

KERF_EVAL_INLINE void ramp_body(bool floating, Int first, Int step, Int n, void* out) {
  Int* lanes = static_cast<Int*>(out);
  for (Int i = 0; i < n; ++i) lanes[i] = first + i * step;
  if (floating) convert_body(Conversion::int_to_float, n, out, out);
}

KERF_EVAL_INLINE void store_bool_body(const void* in, Int n, void* out) {
  const Int* lanes = static_cast<const Int*>(in);
  auto* bytes = static_cast<std::uint8_t*>(out);
  for (Int i = 0; i < n; ++i) bytes[i] = lanes[i] != 0 ? 1 : 0;
}

// The same six functions for each instruction set: a function's target decides how its inlined loops are compiled.
#define KERF_EVAL_VERSION(name, target)                                                                            \
  target void name##_map(MapOp op, bool floating, Int n, const void* a, const void* b, const void* c, void* out) { \
    map_body(op, floating, n, a, b, c, out);                                                                       \
  }                                                                                                                \
  target void name##_convert(Conversion conversion, Int n, const void* in, void* out) {                            \
    convert_body(conversion, n, in, out);                                                                          \
  }                                                                                                                \
  target void name##_load(DType dtype, const void* source, Int offset, Int stride, Int n, void* out) {             \
    load_body(dtype, source, offset, stride, n, out);                                                              \
  }                                                                                                                \
  target void name##_ramp(bool floating, Int first, Int step, Int n, void* out) {                                  \
    ramp_body(floating, first, step, n, out);                                                                      \
  }                                                                                                                \
  target void name##_store_bool(const void* in, Int n, void* out) { store_bool_body(in, n, out); }                 \
  target void name##_accumulate(ReduceOp op, bool floating, const void* data, Int rows, Int width, Int row,        \
                                void* first, void* second) {                                                       \
    accumulate_body(op, floating, data, rows, width, row, first, second);                                          \
  }                                                                                                                \
  constexpr Kernels name##_kernels{name##_map,  name##_convert,    name##_load,                                    \
                                   name##_ramp, name##_store_bool, name##_accumulate};

KERF_EVAL_VERSION(baseline, )
#if defined(__x86_64__)
#if defined(__clang__)
#define KERF_EVAL_V4 "arch=x86-64-v4"
#else
#define KERF_EVAL_V4 "arch=x86-64-v4,prefer-vector-width=512"
#endif
KERF_EVAL_VERSION(v3, __attribute__((target("arch=x86-64-v3"))))
KERF_EVAL_VERSION(v4, __attribute__((target(KERF_EVAL_V4))))
#endif

}  // namespace

const Kernels& kernels() {
#if defined(__x86_64__)
  static const Kernels& best = [&]() -> const Kernels& {
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? v4_kernels : v3 ? v3_kernels : baseline_kernels;
  }();
  return best;
#else
  return baseline_kernels;
#endif
}

namespace {

template <class T>
T start_value(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod: return FoldProduct<T>::start;
    case ReduceOp::max:
    case ReduceOp::argmax: return FoldMax<T>::start;
    case ReduceOp::min:
    case ReduceOp::argmin: return FoldMin<T>::start;
    case ReduceOp::all: return 1;
    default: return 0;
  }
}

bool is_arg(ReduceOp op) { return op == ReduceOp::argmax || op == ReduceOp::argmin; }

template <class T, bool kMax>
void merge_arg(Int width, const void* other_first, const void* other_second, void* first, void* second) {
  const T* other_best = static_cast<const T*>(other_first);
  const Int* other_index = static_cast<const Int*>(other_second);
  T* best = static_cast<T*>(first);
  Int* index = static_cast<Int*>(second);
  for (Int j = 0; j < width; ++j)
    if (other_index[j] >= 0 && (index[j] < 0 || beats<T, kMax>(other_best[j], best[j]))) {
      best[j] = other_best[j];
      index[j] = other_index[j];
    }
}

}  // namespace

void reduction_begin(ReduceOp op, bool floating, std::int64_t width, void* first, void* second) {
  for (Int j = 0; j < width; ++j) {
    if (floating)
      static_cast<double*>(first)[j] = start_value<double>(op);
    else
      static_cast<Int*>(first)[j] = start_value<Int>(op);
    static_cast<Int*>(second)[j] = is_arg(op) ? -1 : 0;  // all bits 0 is also 0.0
  }
}

void reduction_merge(ReduceOp op, bool floating, std::int64_t width, const void* other_first, const void* other_second,
                     void* first, void* second) {
  if (is_arg(op)) {
    const bool max = op == ReduceOp::argmax;
    const auto merge = floating ? (max ? merge_arg<double, true> : merge_arg<double, false>)
                                : (max ? merge_arg<Int, true> : merge_arg<Int, false>);
    return merge(width, other_first, other_second, first, second);
  }
  accumulate_body(op, floating, other_first, 1, width, 0, first, second);
  if (floating && op == ReduceOp::sum)
    for (Int j = 0; j < width; ++j) static_cast<double*>(second)[j] += static_cast<const double*>(other_second)[j];
}

void reduction_end(ReduceOp op, bool floating, std::int64_t width, void* first, const void* second) {
  if (is_arg(op)) {
    std::memcpy(first, second, static_cast<std::size_t>(width) * sizeof(Int));
  } else if (floating && op == ReduceOp::sum) {
    double* sum = static_cast<double*>(first);
    const double* lost = static_cast<const double*>(second);
    for (Int j = 0; j < width; ++j)
      if (std::isfinite(sum[j])) sum[j] += lost[j];  // beyond that the lost part is inf - inf
  }
}

}  // namespace kerf::ir::eval
