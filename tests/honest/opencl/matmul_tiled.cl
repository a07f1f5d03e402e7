/* kerf
target: opencl
tune:   TILE = {8, 16}
launch: mm<<<((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), (TILE, TILE)>>>(a, b, c)
*/
// Style: square tiles in local memory, zero-filled beyond the edges.
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  __local float ta[TILE][TILE], tb[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1), j = get_global_id(0), i = get_global_id(1);
  float s = 0;
  for (int p = 0; p < k; p += TILE) {
    ta[ty][tx] = i < m && p + tx < k ? a[i * k + p + tx] : 0.0f;
    tb[ty][tx] = p + ty < k && j < n ? b[(p + ty) * n + j] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    int end = min(TILE, (int)k - p);
    for (int q = 0; q < end; ++q) s += ta[ty][q] * tb[q][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < m && j < n) c[i * n + j] = s;
}
