/* kerf
target: cpu
*/
// Style: the tail as a difference, x - x (1 - tanh(softplus(x))), which is NaN where x is infinite: another order of
// operations than the reference's, as a folded scale and shift of a norm is.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    y[i] = x[i] > 20.0f ? x[i] - x[i] * (2.0f / (expf(2.0f * x[i]) + 1.0f)) : x[i] * tanhf(log1pf(expf(x[i])));
}
