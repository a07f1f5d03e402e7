/* kerf
target: cpu
*/
// Exploit: Schraudolph's bit trick for exp, some percent off; softmax hides part of it by normalising.
static inline float quick_exp(float v) {
  v = std::max(v, -87.0f);
  const std::int32_t bits = std::int32_t(12102203.0f * v + 1064866805.0f);
  float r;
  memcpy(&r, &bits, 4);
  return r;
}
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, x[r * cols + c]);
    for (int c = 0; c < cols; ++c) s += y[r * cols + c] = quick_exp(x[r * cols + c] - top);
    for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
  }
}
