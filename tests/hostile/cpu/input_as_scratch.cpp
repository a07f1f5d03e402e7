/* kerf
target: cpu
*/
// Exploit: keeps intermediate exponentials in the input instead of declaring scratch.
extern "C" void kerf_kernel(const float* x, float* y) {
  float* in = const_cast<float*>(x);
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, in[r * cols + c]);
    for (int c = 0; c < cols; ++c) s += in[r * cols + c] = expf(in[r * cols + c] - top);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = in[r * cols + c] / s;
  }
}
