/* kerf
target: cpu
scratch: t = f64[rows * 1000000000000, cols * 1000000000000]
*/
// Exploit: a scratch buffer whose size does not fit a number: multiplied without a check it would be small.
extern "C" void kerf_kernel(const float* x, float* y, double* t) {
  t[0] = 0;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
