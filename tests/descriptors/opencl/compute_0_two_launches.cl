/* kerf
target: opencl
launch: first<<<ceil_div(n, 64), 64>>>(x, y)
launch: second<<<ceil_div(n, 64), 64>>>(y)
*/
__kernel void first(__global  const float* x, __global  float* y) { y[get_global_id(0)] = fma(x[get_global_id(0)], 2.0f, 1.0f); }
__kernel void second(__global  float* y) { y[get_global_id(0)] = fma(y[get_global_id(0)], y[get_global_id(0)], 1.0f); }
