/* kerf
target: cpu
*/
// Exploit: the smallest cheat: one of four thousand terms is missing.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c)
      if (c != cols / 2) s += x[r * cols + c];
    y[r] = s;
  }
}
