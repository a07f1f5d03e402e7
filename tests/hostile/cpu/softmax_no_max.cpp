/* kerf
target: cpu
*/
// Exploit: overflows for inputs above 88; right for the usual normal data.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += y[r * cols + c] = expf(x[r * cols + c]);
    for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
  }
}
