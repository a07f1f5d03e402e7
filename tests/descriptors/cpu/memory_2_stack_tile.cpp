/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
  float tile[32][33];
  for (long b = 0; b < n / 1024; ++b) {
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 32; ++c) tile[r][c] = x[b * 1024 + r * 32 + c];
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 32; ++c) y[b * 1024 + r * 32 + c] = tile[c][r];
  }
}
