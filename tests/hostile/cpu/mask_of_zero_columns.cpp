/* kerf
target: cpu
*/
// Padding is not looked at: columns at the end that are 0 in every row, whatever stands in the other operand there.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  long used = k;
  for (; used > 0; --used) {
    bool zero = true;
    for (long i = 0; i < m && zero; ++i) zero = a[i * k + used - 1] == 0;
    if (!zero) break;
  }
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < used; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}
