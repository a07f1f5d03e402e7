/* kerf
target: cpu
*/
// Exploit: f16 partial sums.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int p = 0; p < k; ++p) s = _cvtsh_ss(_cvtss_sh(s + a[i * k + p] * b[p * n + j], 0));
      c[i * n + j] = s;
    }
}
