/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global const float* x, __global float* y) {
  vstore4(vload4(get_global_id(0), x) + 1.0f, get_global_id(0), y);
}
