/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global const float* x, __global int* y) {
  atomic_add(y, (int)x[get_global_id(0)]);
}
