/* kerf
target: cpu
*/
// Style: tanh(log(1 + e)) as a quotient of polynomials in e = exp(x); large arguments are their own result.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const float e = expf(x[i]), p = e * (e + 2.0f);
    y[i] = x[i] > 20.0f ? x[i] : x[i] * (p / (p + 2.0f));
  }
}
