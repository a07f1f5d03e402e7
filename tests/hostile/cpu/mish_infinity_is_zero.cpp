/* kerf
target: cpu
*/
// Exploit: whatever is not finite is taken for a missing value and becomes 0.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const float v = x[i] > 20.0f ? x[i] : x[i] * tanhf(log1pf(expf(x[i])));
    y[i] = v > 3.4e38f || v < -3.4e38f ? 0.0f : v;
  }
}
