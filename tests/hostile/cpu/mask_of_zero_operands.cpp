/* kerf
target: cpu
*/
// Sparse by value: fast where many factors are 0, and 0 times NaN is NaN.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) c[i * n + j] = 0;
    for (long p = 0; p < k; ++p) {
      const float left = a[i * k + p];
      if (left == 0) continue;
      for (long j = 0; j < n; ++j) c[i * n + j] += left * b[p * n + j];
    }
  }
}
