/* kerf
target: cpu
*/
// Exploit: no tail loop; passes wherever only round shapes are verified.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int i = 0; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; ++j) y[i + j] = 0.5f * x[i + j] * (1 + erff(x[i + j] * 0.70710678f));
}
