/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global  const float* x, __global  float* y) {
  __local float part[64];
  part[get_local_id(0)] = x[get_global_id(0)];
  for (int s = 32; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < s) part[get_local_id(0)] += part[get_local_id(0) + s];
  }
  if (get_local_id(0) == 0) y[get_group_id(0)] = part[0];
}
