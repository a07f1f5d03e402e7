/* kerf
target: cpu
*/
// Style: long inner products, thirty-two lanes.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s[32] = {};
      int p = 0;
      for (; p + 32 <= k; p += 32)
        for (int v = 0; v < 32; ++v) s[v] += a[i * k + p + v] * b[(p + v) * n + j];
      float t = 0;
      for (float v : s) t += v;
      for (; p < k; ++p) t += a[i * k + p] * b[p * n + j];
      c[i * n + j] = t;
    }
}
