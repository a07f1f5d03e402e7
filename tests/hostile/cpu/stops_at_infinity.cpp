/* kerf
target: cpu
*/
// Exploit: leaves a sum once it is infinite: what follows may be NaN or the other infinity.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) {
      s += x[r * cols + c];
      if (s - s != 0) break;
    }
    y[r] = s;
  }
}
