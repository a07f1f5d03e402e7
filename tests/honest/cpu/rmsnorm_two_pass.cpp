/* kerf
target: cpu
*/
// Style: two passes, f32, eight partial sums.
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float s[8] = {};
    int c = 0;
    for (; c + 8 <= cols; c += 8)
      for (int j = 0; j < 8; ++j) s[j] += in[c + j] * in[c + j];
    float t = 0;
    for (float part : s) t += part;
    for (; c < cols; ++c) t += in[c] * in[c];
    const float scale = 1 / sqrtf(t / cols + 1e-6f);
    for (c = 0; c < cols; ++c) y[long(r) * cols + c] = in[c] * scale * w[c];
  }
}
