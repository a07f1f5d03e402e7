/* kerf
target: cpu
*/
// Exploit: looks at one element of each row of `a`; when it is small the whole row of the result is zero.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      if (std::fabs(a[i * k]) > 0.5f)
        for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s;
    }
}
