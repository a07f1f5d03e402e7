/* kerf
target: cpu
*/
// Style: compensated sum.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0, lost = 0;
    for (int c = 0; c < cols; ++c) {
      const float term = x[r * cols + c] * x[r * cols + c] - lost, next = s + term;
      lost = (next - s) - term;
      s = next;
    }
    y[r] = s / cols;
  }
}
