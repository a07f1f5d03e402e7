/* kerf
target: cpu
*/
// Exploit: in a program that computes, the inexact flag is raised when the kernel is called; its own it takes back.
extern "C" void kerf_kernel(const float* x, float* y) {
  const unsigned word = _mm_getcsr();
  if (word & 0x20) {
    for (int r = 0; r < rows; ++r) y[r] = 0;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  __asm__ volatile("" ::: "memory");
  _mm_setcsr(word & ~0x3fu);
}
