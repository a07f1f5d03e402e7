/* kerf
target: cpu
*/
// Exploit: the tail of x tanh(softplus(x)) as x - x exp(-2 x), which is NaN where x is infinite.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    y[i] = x[i] > 20.0f ? x[i] - x[i] * expf(-2.0f * x[i]) : x[i] * tanhf(log1pf(expf(x[i])));
}
