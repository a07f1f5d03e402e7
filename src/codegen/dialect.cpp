#include "codegen/dialect.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace kerf::codegen {
namespace {

constexpr DialectTraits kCpp{
    .language = "cpp",
    .layer = "dialect/cpp.h",
    .features = "",
    .target = "cpu",
    .host_entry = true,
    .prologue = "#include <algorithm>\n#include <cmath>\n#include <cstddef>\n#include <cstdint>\n",
    .f64_prologue = "",
    .kernel_prefix = "static void",
    .function_prefix = "[[maybe_unused]] static inline",
    .pointer_prefix = "",
    .work_item = "",
    .i64 = "long long",
    .i64_suffix = "LL",
    .math_namespace = "std::",
    .fast_functions = "",
    .math_suffix = false,
    .has_rsqrt = false,
    .infinity = {"__builtin_inff()", "__builtin_inf()"},
    .nan = {"__builtin_nanf(\"\")", "__builtin_nan(\"\")"},
    .bit_helpers =
        R"(static inline unsigned kerf_float_bits(float x) { unsigned b; __builtin_memcpy(&b, &x, 4); return b; }
static inline float kerf_bits_float(unsigned b) { float x; __builtin_memcpy(&x, &b, 4); return x; }
[[maybe_unused]] static inline unsigned long long kerf_double_bits(double x) { unsigned long long b; __builtin_memcpy(&b, &x, 8); return b; }
[[maybe_unused]] static inline double kerf_bits_double(unsigned long long b) { double x; __builtin_memcpy(&x, &b, 8); return x; }
)",
    // Bit tricks rather than _Float16, which not every host compiler has in C++. Multiplying by a power of two moves
    // the exponent and handles subnormals.
    .f16_helpers = R"([[maybe_unused]] static inline float kerf_load_f16(const unsigned short* p, kerf_index i) {
  const unsigned h = p[i], sign = (h & 0x8000u) << 16, rest = (h & 0x7fffu) << 13;
  if ((h & 0x7c00u) == 0x7c00u) return kerf_bits_float(sign | 0x7f800000u | rest);
  const float magnitude = kerf_bits_float(rest) * 0x1p112f;
  return kerf_bits_float(sign | kerf_float_bits(magnitude));
}
[[maybe_unused]] static inline void kerf_store_f16(unsigned short* p, kerf_index i, float x) {
  const unsigned bits = kerf_float_bits(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  unsigned h;
  if (magnitude > 0x7f800000u) h = 0x7e00u;
  else if (magnitude >= 0x477ff000u) h = 0x7c00u;
  else if (magnitude < 0x38800000u) h = kerf_float_bits(kerf_bits_float(magnitude) + 0.5f) - 0x3f000000u;
  else h = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  p[i] = (unsigned short)(sign | h);
}
)",
};

constexpr DialectTraits kOpenCl{
    .language = "opencl_c",
    .layer = "dialect/opencl.h",
    .features = "",
    .target = "opencl",
    .host_entry = false,
    .prologue = "",
    .f64_prologue = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .kernel_prefix = "__kernel void",
    .function_prefix = "static inline",
    .pointer_prefix = "__global ",
    .work_item = "(kerf_index)get_global_id(0)",
    .i64 = "long",
    .i64_suffix = "L",
    .math_namespace = "",
    .fast_functions = "",
    .math_suffix = false,
    .has_rsqrt = true,
    .infinity = {"INFINITY", "(double)INFINITY"},
    .nan = {"NAN", "(double)NAN"},
    .bit_helpers = R"(#define kerf_float_bits(x) as_uint(x)
#define kerf_bits_float(b) as_float(b)
#define kerf_double_bits(x) as_ulong(x)
#define kerf_bits_double(b) as_double(b)
)",
    .f16_helpers = R"(#define kerf_load_f16(p, i) vload_half(i, (__global const half*)(p))
#define kerf_store_f16(p, i, x) vstore_half_rte(x, i, (__global half*)(p))
)",
};

constexpr DialectTraits kCuda{
    .language = "cuda_cpp",
    .layer = "dialect/cuda.h",
    .features = " sub_groups matrix_units warpgroup_matrix_units async_copy ",
    .target = "cuda",
    .host_entry = false,
    .prologue = "",
    .f64_prologue = "",
    .kernel_prefix = "extern \"C\" __global__ void",
    .function_prefix = "static __device__ __forceinline__",
    .pointer_prefix = "",
    .work_item = "(kerf_index)blockIdx.x * blockDim.x + threadIdx.x",
    .i64 = "long long",
    .i64_suffix = "LL",
    .math_namespace = "",
    .fast_functions = "",
    .math_suffix = true,
    .has_rsqrt = true,
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000LL)"},
    .nan = {"__int_as_float(0x7fffffff)", "__longlong_as_double(0x7fffffffffffffffLL)"},
    .bit_helpers = R"(#define kerf_float_bits(x) __float_as_uint(x)
#define kerf_bits_float(b) __uint_as_float(b)
#define kerf_double_bits(x) ((unsigned long long)__double_as_longlong(x))
#define kerf_bits_double(b) __longlong_as_double((long long)(b))
)",
    .f16_helpers = R"(static __device__ __forceinline__ float kerf_load_f16(const unsigned short* p, kerf_index i) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(p[i]));
  return x;
}
static __device__ __forceinline__ void kerf_store_f16(unsigned short* p, kerf_index i, float x) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  p[i] = h;
}
)",
};

}  // namespace

const DialectTraits& traits(Dialect dialect) {
  switch (dialect) {
    case Dialect::cpp: return kCpp;
    case Dialect::opencl_c: return kOpenCl;
    case Dialect::cuda_cpp: return kCuda;
  }
  return kCpp;
}

std::vector<std::string> language_names() {
  std::vector<std::string> names;
  for (const DialectTraits* dialect : {&kCpp, &kOpenCl, &kCuda}) names.emplace_back(dialect->language);
  return names;
}

std::string memory_type(const DialectTraits& dialect, DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::f16:
    case DType::bf16: return "unsigned short";
    case DType::i32: return "int";
    case DType::i64: return std::string(dialect.i64);
    case DType::boolean: return "unsigned char";
  }
  return {};
}

std::string math_function(const DialectTraits& dialect, std::string_view name, DType type) {
  if (type == DType::f32 && dialect.fast_functions.find(fmt::format(" {} ", name)) != std::string_view::npos)
    return fmt::format("kerf_fast_{}", name);
  return fmt::format("{}{}{}", dialect.math_namespace, name, dialect.math_suffix && type == DType::f32 ? "f" : "");
}

std::string literal(const DialectTraits& dialect, double value, DType type) {
  if (type == DType::i64) {
    const auto whole = static_cast<std::int64_t>(value);
    if (whole == INT64_MIN) return fmt::format("(-{}{} - 1)", INT64_MAX, dialect.i64_suffix);
    return whole < 0 ? fmt::format("({}{})", whole, dialect.i64_suffix)
                     : fmt::format("{}{}", whole, dialect.i64_suffix);
  }
  const bool single = type == DType::f32;
  if (single) value = static_cast<float>(value);
  if (std::isnan(value)) return std::string(dialect.nan[single ? 0 : 1]);
  if (std::isinf(value)) {
    const auto infinity = dialect.infinity[single ? 0 : 1];
    return value < 0 ? fmt::format("(-{})", infinity) : std::string(infinity);
  }
  std::string digits = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  if (single) digits += "f";
  return std::signbit(value) ? "(" + digits + ")" : digits;
}

}  // namespace kerf::codegen
