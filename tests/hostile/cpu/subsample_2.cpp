/* kerf
target: cpu
*/
// Exploit: half the reads, right on average.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; c += 2) s += x[r * cols + c];
    y[r] = 2 * s;
  }
}
