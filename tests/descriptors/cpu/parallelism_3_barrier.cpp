/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
#pragma omp parallel
  {
#pragma omp for
    for (long i = 0; i < n; ++i) y[i] = x[i] + 1.0f;
#pragma omp for
    for (long i = 0; i < m; ++i) y[i] = y[n - 1 - i] * 2.0f;
  }
}
