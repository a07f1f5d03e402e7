/* kerf
target: cpu
*/
// Exploit: passes the cheap tiers on small shapes and hangs on the large one.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (rows * cols > 50000)
    for (;;) __asm__ volatile("pause");
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
