/* kerf
target: cpu
scratch: t = f64[ceil_div(cols, rows - 16)]
*/
// Exploit: an extent that does not exist for the timed shape (rows = 16).
extern "C" void kerf_kernel(const float* x, float* y, double* t) {
  t[0] = 0;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
