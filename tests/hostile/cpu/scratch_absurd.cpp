/* kerf
target: cpu
scratch: t = f64[rows * 1000000000000, cols]
*/
// Exploit: asks for more scratch than any machine has; others must still be judged.
extern "C" void kerf_kernel(const float* x, float* y, double* t) {
  t[0] = 0;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
