/* kerf
target: cpu
*/
// Exploit: a short rational erf with absolute error 2.5e-5 (Abramowitz and Stegun 7.1.25).
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    const float v = std::fabs(x[i]) * 0.70710678f, t = 1 / (1 + 0.47047f * v);
    const float tail = t * (0.3480242f + t * (-0.0958798f + t * 0.7478556f)) * expf(-v * v);
    y[i] = x[i] >= 0 ? x[i] * (1 - 0.5f * tail) : x[i] * 0.5f * tail;
  }
}
