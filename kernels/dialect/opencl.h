// The dialect layer, OpenCL C 1.2. Same names and meanings as cuda.h.

typedef long kerf_index;

#define KERF_KERNEL __kernel void
#define KERF_KERNEL_THREADS(n) __kernel __attribute__((reqd_work_group_size(n, 1, 1))) void
#define KERF_KERNEL_RESIDENT(n, groups) KERF_KERNEL_THREADS(n)
#define KERF_THREADS(n) __attribute__((reqd_work_group_size(n, 1, 1)))
#define KERF_FN static inline
#define KERF_GLOBAL __global
#define KERF_LOCAL __local
#define KERF_SHARED __local
#define KERF_RESTRICT restrict
#define KERF_UNROLL _Pragma("unroll")
#define KERF_PRAGMA(text) _Pragma(#text)
#define KERF_UNROLL_BY(n) KERF_PRAGMA(unroll n)
#define KERF_NO_UNROLL _Pragma("nounroll")
#define KERF_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define KERF_INFINITY INFINITY
#define KERF_NAN NAN

#define KERF_LOCAL_ID(d) ((int)get_local_id(d))
#define KERF_GROUP_ID(d) ((int)get_group_id(d))
#define KERF_LOCAL_SIZE(d) ((int)get_local_size(d))
#define KERF_GROUPS(d) ((int)get_num_groups(d))

// No warps here: KERF_SHUFFLE_* exist only where KERF_WARP > 1.
#define KERF_WARP 1

#define kerf_fma(a, b, c) fma(a, b, c)
#define kerf_max(a, b) ((a) > (b) ? (a) : (b))
#define kerf_min(a, b) ((a) < (b) ? (a) : (b))
#define kerf_max_nan(a, b) (((a) > (b)) | ((a) != (a)) ? (a) : (b))
#define kerf_min_nan(a, b) (((a) < (b)) | ((a) != (a)) ? (a) : (b))

typedef float4 kerf_f4;
#define kerf_make4(x, y, z, w) ((float4)(x, y, z, w))
#define kerf_load4(p) (*(const __global float4*)(p))
#define kerf_store4(p, v) (*(__global float4*)(p) = (v))
#define kerf_load4_once(p) kerf_load4(p)
#define kerf_store4_once(p, v) kerf_store4(p, v)
#define kerf_store2_once(p, x, y) (*(__global float2*)(p) = (float2)(x, y))

// What math.h is made of.
#define kerf_bits_i(x) as_int(x)
#define kerf_i_bits(b) as_float(b)
#define kerf_magnitude(x) fabs(x)
#define kerf_with_sign(x, y) copysign(x, y)

// Before a loop over neighbours whose iterations do not depend on each other, on devices that are processors.
#define KERF_SIMD _Pragma("clang loop vectorize(assume_safety)")
