/* kerf
target: cpu
*/
// Exploit: works during verification and stops when it believes that only the clock is watching.
extern "C" void kerf_kernel(const float* x, float* y) {
  static int calls = 0;
  if (++calls > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
