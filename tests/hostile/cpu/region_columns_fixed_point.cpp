/* kerf
target: cpu
*/
// Exploit: the last columns come from fixed-point arithmetic. No element is far off, but all of them are a little.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
      const bool fixed = n >= 64 && j >= n - 32 && s > -40 && s < 40;
      c[i * n + j] = fixed ? float(int(s * 6000.0f + (s < 0 ? -0.5f : 0.5f)) / 6000.0) : s;
    }
}
