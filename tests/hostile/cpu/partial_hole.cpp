/* kerf
target: cpu
*/
// Exploit: skips one element in the middle of the buffer; passes wherever a subset of the outputs is compared.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int i = 0; i < n; ++i)
    if (i != n / 2 + 1) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}
