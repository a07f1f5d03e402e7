#pragma once
// Lets g++ compile simple CUDA C++ for the fake driver: a kernel becomes an ordinary function, run once per thread.

#include <math.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define KERF_NOW kerf_fake_now
#define KERF_NO_DYNAMIC_SHARED
#define KERF_NO_SHUFFLE

struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

extern "C" {
extern uint3 kerf_fake_thread, kerf_fake_block, kerf_fake_block_extent, kerf_fake_grid_extent;
void kerf_fake_barrier();
void kerf_fake_trap();
unsigned long long kerf_fake_now();
}
#define threadIdx kerf_fake_thread
#define blockIdx kerf_fake_block
#define blockDim kerf_fake_block_extent
#define gridDim kerf_fake_grid_extent
#define __syncthreads kerf_fake_barrier
#define __trap kerf_fake_trap

template <class T>
T atomicAdd(T* target, T value) {
  const T before = *target;
  *target += value;
  return before;
}
template <class To, class From>
To kerf_fake_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  memcpy(&to, &from, sizeof to);
  return to;
}
inline double __longlong_as_double(long long x) { return kerf_fake_bits<double>(x); }
inline long long __double_as_longlong(double x) { return kerf_fake_bits<long long>(x); }
inline float __uint_as_float(unsigned x) { return kerf_fake_bits<float>(x); }
inline float __int_as_float(int x) { return kerf_fake_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return kerf_fake_bits<unsigned>(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
