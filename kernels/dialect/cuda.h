// The dialect layer, CUDA C++. Same names and meanings as opencl.h; cpp.h has those that make sense on a host.
//
// A kernel is written   KERF_KERNEL name(...) { }   or, with a fixed number of threads per group (declared bounds let the
// compiler use more registers),   KERF_KERNEL_THREADS(256) name(...) { }.  The launch must have exactly that size.

typedef long long kerf_index;

#define KERF_KERNEL extern "C" __global__ void
#define KERF_KERNEL_THREADS(n) extern "C" __launch_bounds__(n) __global__ void
// The same, compiled so that `groups` of them fit a multiprocessor.
#define KERF_KERNEL_RESIDENT(n, groups) extern "C" __launch_bounds__(n, groups) __global__ void
#define KERF_THREADS(n) __launch_bounds__(n)  // between KERF_KERNEL and the name; prefer KERF_KERNEL_THREADS
#define KERF_FN static __device__ __forceinline__
#define KERF_GLOBAL
#define KERF_LOCAL                            // prefix of pointers into shared arrays
#define KERF_SHARED __shared__
#define KERF_RESTRICT __restrict__
#define KERF_UNROLL _Pragma("unroll")
#define KERF_PRAGMA(text) _Pragma(#text)
#define KERF_UNROLL_BY(n) KERF_PRAGMA(unroll n)
#define KERF_NO_UNROLL _Pragma("unroll 1")
#define KERF_BARRIER() __syncthreads()
#define KERF_INFINITY __int_as_float(0x7f800000)
#define KERF_NAN __int_as_float(0x7fffffff)

#define KERF_LOCAL_ID(d) ((int)((d) == 0 ? threadIdx.x : (d) == 1 ? threadIdx.y : threadIdx.z))
#define KERF_GROUP_ID(d) ((int)((d) == 0 ? blockIdx.x : (d) == 1 ? blockIdx.y : blockIdx.z))
#define KERF_LOCAL_SIZE(d) ((int)((d) == 0 ? blockDim.x : (d) == 1 ? blockDim.y : blockDim.z))
#define KERF_GROUPS(d) ((int)((d) == 0 ? gridDim.x : (d) == 1 ? gridDim.y : gridDim.z))

// Threads of a warp exchange values without barriers; every thread of the warp takes part.
#define KERF_WARP 32
#define KERF_SHUFFLE_XOR(v, m) __shfl_xor_sync(0xffffffffu, v, m)
#define KERF_SHUFFLE_UP(v, m) __shfl_up_sync(0xffffffffu, v, m)
#define KERF_SHUFFLE(v, lane) __shfl_sync(0xffffffffu, v, lane)

#define kerf_fma(a, b, c) fma(a, b, c)
#define kerf_max(a, b) ((a) > (b) ? (a) : (b))  // plain: what a NaN gives is not defined; arguments are evaluated twice
#define kerf_min(a, b) ((a) < (b) ? (a) : (b))

// A NaN on either side wins.
KERF_FN float kerf_max_nan(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
KERF_FN float kerf_min_nan(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
KERF_FN double kerf_max_nan(double a, double b) { return a > b || a != a ? a : b; }
KERF_FN double kerf_min_nan(double a, double b) { return a < b || a != a ? a : b; }

// Four floats; addresses are multiples of 16 bytes.
typedef float4 kerf_f4;
KERF_FN kerf_f4 kerf_make4(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
KERF_FN kerf_f4 kerf_load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
KERF_FN void kerf_store4(float* p, kerf_f4 v) {  // an assignment of float4 is sometimes taken apart into four stores
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
// For data that is used once: passes the caches without staying there.
KERF_FN kerf_f4 kerf_load4_once(const float* p) { return __ldcs(reinterpret_cast<const float4*>(p)); }
KERF_FN void kerf_store4_once(float* p, kerf_f4 v) { __stcs(reinterpret_cast<float4*>(p), v); }
KERF_FN void kerf_store2_once(float* p, float x, float y) { __stcs(reinterpret_cast<float2*>(p), make_float2(x, y)); }  // multiples of 8 bytes
