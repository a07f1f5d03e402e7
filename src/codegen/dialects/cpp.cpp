// C++ for processors: one host function that loops over all elements.
#include "codegen/dialects/dialects.hpp"

namespace kerf::codegen::dialects {

constinit const DialectTraits cpp{
    .language = "cpp",
    .layer = "dialect/cpp.h",
    .features = "",
    .host_entry = true,
    .accepts_cpp_references = true,
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
    .native_functions = "",
    .infinity = {"__builtin_inff()", "__builtin_inf()"},
    .nan = {"__builtin_nanf(\"\")", "__builtin_nan(\"\")"},
    .bit_helpers =
        R"(static inline unsigned kerf_float_bits(float x) { unsigned b; __builtin_memcpy(&b, &x, 4); return b; }
static inline float kerf_bits_float(unsigned b) { float x; __builtin_memcpy(&x, &b, 4); return x; }
[[maybe_unused]] static inline unsigned long long kerf_double_bits(double x) { unsigned long long b; __builtin_memcpy(&b, &x, 8); return b; }
[[maybe_unused]] static inline double kerf_bits_double(unsigned long long b) { double x; __builtin_memcpy(&x, &b, 8); return x; }
)",
    // Clang turns loops over _Float16 into conversions of whole vectors. For other compilers bit tricks without
    // branches, so that loops over them vectorise: multiplying by a power of two moves the exponent and handles
    // subnormals.
    .f16_helpers = R"(#if defined(__clang__) && defined(__F16C__)
[[maybe_unused]] static inline float kerf_load_f16(const unsigned short* p, kerf_index i) {
  _Float16 h;
  __builtin_memcpy(&h, p + i, 2);
  return (float)h;
}
[[maybe_unused]] static inline void kerf_store_f16(unsigned short* p, kerf_index i, float x) {
  const _Float16 h = (_Float16)x;
  __builtin_memcpy(p + i, &h, 2);
}
#else
[[maybe_unused]] static inline float kerf_load_f16(const unsigned short* p, kerf_index i) {
  const unsigned h = p[i], sign = (h & 0x8000u) << 16, rest = (h & 0x7fffu) << 13;
  const float finite = kerf_bits_float(rest) * 0x1p112f;
  return kerf_bits_float(sign | (rest >= 0x0f800000u ? rest | 0x7f800000u : kerf_float_bits(finite)));
}
[[maybe_unused]] static inline void kerf_store_f16(unsigned short* p, kerf_index i, float x) {
  const unsigned bits = kerf_float_bits(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  const unsigned small = kerf_float_bits(kerf_bits_float(magnitude) + 0.5f) - 0x3f000000u;
  const unsigned normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  unsigned h = magnitude < 0x38800000u ? small : normal;
  h = magnitude >= 0x477ff000u ? 0x7c00u : h;
  h = magnitude > 0x7f800000u ? 0x7e00u : h;
  p[i] = (unsigned short)(sign | h);
}
#endif
)",
};

}  // namespace kerf::codegen::dialects
