/* kerf
target: cpu
*/
// Style: one running sum over 16384 squares.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c] * x[r * cols + c];
    y[r] = s / cols;
  }
}
