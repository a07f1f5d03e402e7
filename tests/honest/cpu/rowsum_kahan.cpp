/* kerf
target: cpu
*/
// Style: Kahan's compensated sum.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    volatile float s = 0, lost = 0;
    for (int c = 0; c < cols; ++c) {
      const float v = x[long(r) * cols + c] - lost;
      const float t = s + v;
      if (std::isfinite(t)) lost = (t - s) - v;
      s = t;
    }
    y[r] = s;
  }
}
