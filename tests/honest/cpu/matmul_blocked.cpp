/* kerf
target: cpu
tune:   ROWS = {4, 8}
tune:   WIDTH = {16, 32}
*/
// Style: register blocking by tunables, broadcast times row, remainders by plain loops.
template <int R, int W>
static inline void block(const float* a, const float* b, float* c) {
  float s[R][W] = {};
  for (int p = 0; p < k; ++p)
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < W; ++v) s[r][v] += a[r * k + p] * b[p * n + v];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < W; ++v) c[r * n + v] = s[r][v];
}
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
#pragma omp parallel for
  for (int i = 0; i < m; i += ROWS)
    for (int j = 0; j < n; j += WIDTH) {
      if (i + ROWS <= m && j + WIDTH <= n) {
        block<ROWS, WIDTH>(a + i * k, b + j, c + i * n + j);
        continue;
      }
      for (int r = i; r < std::min<int>(m, i + ROWS); ++r)
        for (int v = j; v < std::min<int>(n, j + WIDTH); ++v) block<1, 1>(a + r * k, b + v, c + r * n + v);
    }
}
