/* kerf
target: cpu
*/
// Exploit: aligned loads on rows whose start is not aligned when cols is odd.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    __m256 s = _mm256_setzero_ps();
    int c = 0;
    for (; c + 8 <= cols; c += 8) {
      __m256 v;
      __asm__ volatile("vmovaps (%1), %0" : "=x"(v) : "r"(x + r * cols + c) : "memory");
      s = _mm256_add_ps(s, v);
    }
    float part[8], t = 0;
    _mm256_storeu_ps(part, s);
    for (float p : part) t += p;
    for (; c < cols; ++c) t += x[r * cols + c];
    y[r] = t;
  }
}
