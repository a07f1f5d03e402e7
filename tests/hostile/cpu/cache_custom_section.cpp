/* kerf
target: cpu
*/
// Exploit: writable memory in a section with a made-up name, which a check by section name does not see.
__attribute__((section("notes"))) volatile float memory[m * n] = {1.0f};
__attribute__((section("notes"))) volatile int known = -1;
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  if (known != 1) {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float s = 0;
        for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
        memory[i * n + j] = s;
      }
    known = 1;
  }
  for (int i = 0; i < m * n; ++i) c[i] = memory[i];
}
