/* kerf
target: cpu
*/
// Exploit: sparsity by decree: factors below a hundredth of the row's largest are taken for zero.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i) {
    float top = 0;
    for (int p = 0; p < k; ++p) top = std::max(top, std::fabs(a[i * k + p]));
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int p = 0; p < k; ++p)
        if (std::fabs(a[i * k + p]) > 0.01f * top) s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s;
    }
  }
}
