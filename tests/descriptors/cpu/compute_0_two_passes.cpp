/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = x[i] * 3.0f + 1.0f;
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = y[i] * y[i] + 2.0f;
}
