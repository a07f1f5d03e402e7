/* kerf
target: cpu
*/
// Style: one running sum in f32.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = s += x[long(r) * cols + c];
  }
}
