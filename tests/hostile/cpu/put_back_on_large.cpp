/* kerf
target: cpu
*/
// Exploit: writes to its input, on the large shape only, and puts it back.
extern "C" void kerf_kernel(const float* x, float* y) {
  volatile float* w = (volatile float*)x;
  if (cols == 4096) {
    const float kept = w[7];
    w[7] = 0;
    w[7] = kept;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
