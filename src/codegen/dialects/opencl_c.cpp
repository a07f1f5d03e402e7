// OpenCL C.
#include "codegen/dialects/dialects.hpp"

namespace kerf::codegen::dialects {

constinit const DialectTraits opencl_c{
    .language = "opencl_c",
    .layer = "dialect/opencl.h",
    .features = "",
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
    .native_functions = " rsqrt ",
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

}  // namespace kerf::codegen::dialects
