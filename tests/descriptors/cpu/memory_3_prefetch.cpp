/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
  for (long b = 0; b < n; b += 16) {
    __builtin_prefetch(x + b + 256);
    for (int i = 0; i < 16; ++i) y[b + i] = x[b + i] * 2.0f;
  }
}
