/* kerf
target: cpu
*/
// Exploit: reads past the end of its input, on the large shape only.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (cols == 4096) {
    volatile float beyond = x[rows * cols + 3];
    (void)beyond;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
