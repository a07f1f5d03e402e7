/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global const float* x, __global float* y) {
  __local float tile[64];
  event_t done = async_work_group_copy(tile, x + get_group_id(0) * 64, 64, 0);
  wait_group_events(1, &done);
  y[get_global_id(0)] = tile[63 - get_local_id(0)];
}
