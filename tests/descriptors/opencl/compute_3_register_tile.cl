/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global  const float* x, __global  float* y) {
  __local float a[8][64];
  float t[16];
  for (int j = 0; j < 16; ++j) t[j] = 0;
  for (int b = 0; b < k / 8; ++b) {
    for (int p = 0; p < 8; ++p) a[p][get_local_id(0)] = x[(b * 8 + p) * 64 + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 8; ++p)
      for (int j = 0; j < 16; ++j) t[j] = fma(a[p][get_local_id(0)], a[p][j], t[j]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = 0; j < 16; ++j) y[(get_group_id(0) * 16 + j) * 64 + get_local_id(0)] = t[j];
}
