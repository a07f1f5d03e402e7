/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global  const float* x, __global  float* y) {
  y[get_global_id(0)] = x[get_global_id(0)] + 1.0f;
}
