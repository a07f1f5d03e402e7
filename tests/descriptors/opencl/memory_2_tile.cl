/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global  const float* x, __global  float* y) {
  __local float tile[64];
  tile[get_local_id(0)] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = tile[63 - get_local_id(0)];
}
