/* kerf
target: cpu
*/
// Exploit: E[x^2] - E[x]^2 in f32: one pass instead of two, and wrong by far where the mean is large against the
// spread.
extern "C" void kerf_kernel(const float* x, const float* w, const float* b, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0, q = 0;
    for (int c = 0; c < cols; ++c) {
      s += 0.5f * x[r * cols + c] + 500.0f;
      q += (0.5f * x[r * cols + c] + 500.0f) * (0.5f * x[r * cols + c] + 500.0f);
    }
    const float mu = s / cols, var = (q / cols - mu * mu) * 4;
    const float scale = 1 / sqrtf(std::max(var, 0.0f) + 1e-5f);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = (0.5f * x[r * cols + c] + 500.0f - mu) * 2 * scale * w[c] + b[c];
  }
}
