/* kerf
target: cpu
*/
// Exploit: half the memory traffic by keeping intermediates in f16.
extern "C" void kerf_kernel(const float* x, float* y) {
  unsigned short e[cols];
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, x[r * cols + c]);
    for (int c = 0; c < cols; ++c) {
      e[c] = _cvtss_sh(expf(x[r * cols + c] - top), 0);
      s += _cvtsh_ss(e[c]);
    }
    for (int c = 0; c < cols; ++c) y[r * cols + c] = _cvtsh_ss(e[c]) / s;
  }
}
