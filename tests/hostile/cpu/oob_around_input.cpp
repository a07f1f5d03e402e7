/* kerf
target: cpu
*/
// Exploit: writes before and after an input, not touching the input itself.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  float* in = const_cast<float*>(x);
  in[-1] = 0;
  in[rows * cols] = 0;
}
