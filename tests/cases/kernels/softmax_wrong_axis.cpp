/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int c = 0; c < cols; ++c) {
    float top = -INFINITY, s = 0;
    for (int r = 0; r < rows; ++r) top = std::max(top, x[r * cols + c]);
    for (int r = 0; r < rows; ++r) s += y[r * cols + c] = expf(x[r * cols + c] - top);
    for (int r = 0; r < rows; ++r) y[r * cols + c] /= s;
  }
}
