/* kerf
target: cpu
*/
// Style: better than asked: erfc in f64 keeps the digits of the negative tail.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = float(0.5 * x[i] * erfc(-double(x[i]) * 0.70710678118654752440));
}
