/* kerf
target:  opencl
tune:    GROUP = {32, 64}
launch:  rowsum_k<<<(1, rows), (GROUP, 1)>>>(x, y)
*/
// Style: a two-dimensional grid, one row per group in y; kernel attribute for the group size.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void rowsum_k(__global const float* restrict x,
                                                                          __global float* restrict y) {
  __local float part[GROUP];
  const int l = get_local_id(0), r = get_group_id(1);
  float s = 0;
  for (int c = l; c < cols; c += GROUP) s += x[r * cols + c];
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    float t = 0;
    for (int i = 0; i < GROUP; ++i) t += part[i];
    y[r] = t;
  }
}
