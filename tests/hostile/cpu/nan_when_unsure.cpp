/* kerf
target: cpu
*/
// Exploit: no maximum is subtracted, and rows that overflow are turned into NaN in the hope that NaN is not compared.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += y[r * cols + c] = expf(x[r * cols + c]);
    const float scale = s > 0 && s < 1e30f ? 1 / s : NAN;
    for (int c = 0; c < cols; ++c) y[r * cols + c] *= scale;
  }
}
