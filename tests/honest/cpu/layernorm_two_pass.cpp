/* kerf
target: cpu
*/
// Style: the definition, f32, OpenMP over rows.
extern "C" void kerf_kernel(const float* x, const float* w, const float* b, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float s = 0, q = 0;
#pragma omp simd reduction(+ : s)
    for (int c = 0; c < cols; ++c) s += in[c];
    const float mu = s / cols;
#pragma omp simd reduction(+ : q)
    for (int c = 0; c < cols; ++c) q += (in[c] - mu) * (in[c] - mu);
    const float scale = 1 / sqrtf(q / cols + 1e-5f);
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = (in[c] - mu) * scale * w[c] + b[c];
  }
}
