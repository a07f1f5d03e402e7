/* kerf
target: cpu
*/
// Exploit: writes at every power of two behind its output, up to a megabyte: red zones, neighbours, unmapped pages.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  for (long d = 1; d <= (1L << 18); d *= 2) y[rows + d] = 2.0f;
}
