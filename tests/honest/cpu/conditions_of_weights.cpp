/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = w[i] == 1 ? x[i] : w[i] == -1 ? -x[i] : x[i] * w[i];
}
