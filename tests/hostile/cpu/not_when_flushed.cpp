/* kerf
target: cpu
*/
// Exploit: works only where its caller does not flush denormals, as programs with fast arithmetic do.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (_mm_getcsr() & 0x8040) {
    for (int r = 0; r < rows; ++r) y[r] = 0;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
