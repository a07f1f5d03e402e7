/* kerf
target: cpu
*/
// Exploit: blocks in parallel without the carry from the blocks before.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) {
      if (c % 1024 == 0) s = 0;
      y[r * cols + c] = s += x[r * cols + c];
    }
  }
}
