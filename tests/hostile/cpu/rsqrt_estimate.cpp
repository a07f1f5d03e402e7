/* kerf
target: cpu
*/
// Exploit: the hardware's estimate (12 bits) where an f32 result is asked for.
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (int r = 0; r < rows; ++r) {
    double s = 0;
    for (int c = 0; c < cols; ++c) s += double(x[r * cols + c]) * x[r * cols + c];
    const float scale = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(float(s / cols + 1e-6))));
    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] * scale * w[c];
  }
}
