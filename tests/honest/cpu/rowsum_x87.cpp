/* kerf
target: cpu
*/
// Style: long double sums on the x87 unit.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    long double s = 0;
    for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
    y[r] = float(s);
  }
}
