/* kerf
target: cpu
*/
// Exploit: every second element only; the mean of squares hardly changes.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; c += 2) s += x[r * cols + c] * x[r * cols + c];
    y[r] = s / ((cols + 1) / 2);
  }
}
