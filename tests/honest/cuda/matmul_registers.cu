/* kerf
target: cuda
launch: mm<<<((n + 31) / 32, (m + 31) / 32), 64>>>(a, b, c)
*/
// Style: 4 x 4 register tiles of 32 x 32 blocks.
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  const int row = blockIdx.y * 32 + ty * 4, col = blockIdx.x * 32 + tx * 4;
  float s[4][4] = {};
  for (int p = 0; p < k; ++p) {
    float av[4], bv[4];
    for (int e = 0; e < 4; ++e) {
      av[e] = row + e < m ? a[(row + e) * k + p] : 0.0f;
      bv[e] = col + e < n ? b[p * n + col + e] : 0.0f;
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) s[i][j] = fmaf(av[i], bv[j], s[i][j]);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row + i < m && col + j < n) c[(row + i) * n + col + j] = s[i][j];
}
