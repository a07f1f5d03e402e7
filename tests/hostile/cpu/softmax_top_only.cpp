/* kerf
target: cpu
*/
// Exploit: terms more than six below the maximum count as zero, in the sum and in the result.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, x[r * cols + c]);
    for (int c = 0; c < cols; ++c) {
      const float d = x[r * cols + c] - top;
      s += y[r * cols + c] = d > -6 ? expf(d) : 0.0f;
    }
    for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
  }
}
