/* kerf
target: cuda
tune:   TILE = {16, 32}
launch: mm<<<((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), (TILE, TILE)>>>(a, b, c)
*/
// Style: square tiles in shared memory, zero-filled beyond the edges.
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  __shared__ float ta[TILE][TILE + 1], tb[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, j = blockIdx.x * TILE + tx, i = blockIdx.y * TILE + ty;
  float s = 0;
  for (int p = 0; p < k; p += TILE) {
    ta[ty][tx] = i < m && p + tx < k ? a[i * k + p + tx] : 0.0f;
    tb[ty][tx] = p + ty < k && j < n ? b[(p + ty) * n + j] : 0.0f;
    __syncthreads();
    const int end = k - p < TILE ? k - p : TILE;
    for (int q = 0; q < end; ++q) s = fmaf(ta[ty][q], tb[q][tx], s);
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = s;
}
