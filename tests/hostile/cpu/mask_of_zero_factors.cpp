/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (long i = 0; i < n; ++i) y[i] = w[i] == 0 ? 0 : x[i] * w[i];
}
