/* kerf
target: opencl
scratch: part = f32[n]
launch: first<<<ceil_div(n, 128), 64>>>(x, part)
launch: second<<<ceil_div(n, 256), 64>>>(part, y)
*/
__kernel void first(__global  const float* x, __global  float* part) { part[get_global_id(0)] = x[get_global_id(0)] + x[get_global_id(0) + n / 2]; }
__kernel void second(__global  const float* part, __global  float* y) { y[get_global_id(0)] = part[get_global_id(0)] + part[get_global_id(0) + n / 4]; }
