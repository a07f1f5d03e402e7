/* kerf
target: cpu
*/
// Style: the hardware's rsqrt estimate, refined by two Newton steps to f32.
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float t = 0;
#pragma omp simd reduction(+ : t)
    for (int c = 0; c < cols; ++c) t += in[c] * in[c];
    const float v = t / cols + 1e-6f;
    float e = 1 / sqrtf(v);
    if (v > 1e-30f && v < 1e30f) {
      e = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(v)));
      e = e * (1.5f - 0.5f * v * e * e);
      e = e * (1.5f - 0.5f * v * e * e);
    }
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = in[c] * e * w[c];
  }
}
