/* kerf
target: cpu
*/
// Style: both ends have a formula of their own: x itself above 20, and a plain 0 far below, where the reference has an
// infinity times 0.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    y[i] = x[i] > 20.0f ? x[i] : x[i] < -120.0f ? -0.0f : x[i] * tanhf(log1pf(expf(x[i])));
}
