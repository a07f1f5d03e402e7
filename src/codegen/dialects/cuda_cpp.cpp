// CUDA C++.
#include "codegen/dialects/dialects.hpp"

namespace kerf::codegen::dialects {

constinit const DialectTraits cuda_cpp{
    .language = "cuda_cpp",
    .layer = "dialect/cuda.h",
    .features = " sub_groups matrix_units warpgroup_matrix_units async_copy ",
    .host_entry = false,
    .prologue = "",
    .f64_prologue = "",
    .kernel_prefix = "extern \"C\" __global__ void",
    .function_prefix = "static __device__ __forceinline__",
    .pointer_prefix = "",
    .work_item = "(kerf_index)blockIdx.x * blockDim.x + threadIdx.x",
    .group_index = "(kerf_index)blockIdx.x",
    .local_index = "(int)threadIdx.x",
    .shared_prefix = "__shared__",
    .barrier = "__syncthreads()",
    .i64 = "long long",
    .i64_suffix = "LL",
    .math_namespace = "",
    .fast_functions = "",
    .math_suffix = true,
    .native_functions = " rsqrt ",
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

}  // namespace kerf::codegen::dialects
